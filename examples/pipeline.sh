#!/bin/sh
# Builds a channel for several architectures with one and the same builder container, and checks afterwards that every
# build used it. `build` stands for the job that makes the OS: it gets the image and the architecture, and leaves the
# build's meta.json at the path that it prints.
#
#   examples/pipeline.sh CHANNEL "ARCH…" BUILD-COMMAND
set -eu
channel=$1 architectures=$2 build=$3

# Asked once: while the jobs run, a tag may move.
image=$(coreos-pins ref "$channel")
echo "channel $channel is built with $image"

for architecture in $architectures; do
    meta=$("$build" "$image" "$architecture")
    coreos-pins check "$channel" --image "$image"
    coreos-pins check "$channel" --meta "$meta"
done
