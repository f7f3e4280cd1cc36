# shellcheck shell=bash
# Sourced by the other scripts before they change the folder: defines what they print if they are called wrongly.

called=$0
if [[ $called != /* ]]; then called=$PWD/$called; fi

print_usage() {  # prints the comment that the script begins with, whatever its length
  sed -n '1d; /^#/!q; /^# shellcheck /d; s/^# \{0,1\}//p' "$called" >&2
}
