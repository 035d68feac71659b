//! Reads gaze and fixation files and turns them into scanpaths.
