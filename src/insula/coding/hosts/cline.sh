#!/bin/sh
# Insula's hook for Cline; written by `insula install cline`, removed by `insula uninstall cline`.
$command
