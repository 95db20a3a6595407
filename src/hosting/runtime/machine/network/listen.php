<?php
/**
 * Opens a listener for connections to any address and port of a website's network, which Node cannot, and starts the program of the arguments
 * with it as descriptor 4. Descriptor 3 is its line to the platform.
 */
const SOL_IP = 0;
const IP_TRANSPARENT = 19;
$port = (int) $argv[1];
$socket = socket_create(AF_INET, SOCK_STREAM, SOL_TCP);
if (!socket_set_option($socket, SOL_IP, IP_TRANSPARENT, 1) || !socket_bind($socket, '0.0.0.0', $port) || !socket_listen($socket, 128)) {
    fwrite(STDERR, socket_strerror(socket_last_error()));
    exit(1);
}
$program = proc_open(array_slice($argv, 2), [0 => STDIN, 1 => STDOUT, 2 => STDERR, 4 => socket_export_stream($socket)], $pipes);
exit(proc_close($program));
