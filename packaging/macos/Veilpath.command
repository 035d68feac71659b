#!/bin/sh
# Opens Veilpath's page on a double click. Closing this window ends the program.
cd "$(dirname "$0")" && exec ./veilpath ui
