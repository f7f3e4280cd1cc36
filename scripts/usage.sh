# shellcheck shell=bash
# Sourced by the other scripts, before they change the folder: what they print where they are called wrongly.

called=$0
if [[ $called != /* ]]; then called=$PWD/$called; fi

print_usage() {  # the comment that the script begins with, however long it is
  sed -n '1d; /^#/!q; /^# shellcheck /d; s/^# \{0,1\}//p' "$called" >&2
}
