#!/bin/sh
# Opens the page of Veilpath by a double click. Closing this window ends the program.
cd "$(dirname "$0")" && exec ./veilpath ui
