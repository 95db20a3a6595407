<?php
/**
 * Finds the website that runs this shared WordPress, and loads its settings. The environment, which visitors cannot set, contains
 * the document root.
 */
if (defined('HOMEPORT')) {
    return;
}
$homeport_root = $_SERVER['HOMEPORT_DOC'] ?? getenv('HOMEPORT_DOC');
if (!is_string($homeport_root) || !is_file(dirname($homeport_root) . '/homeport.php')) {
    http_response_code(500);
    exit("HOMEPORT_DOC names no website of this host.\n");
}
if (!is_file($homeport_root . '/wp-config.php')) {
    if (PHP_SAPI === 'cli') {
        exit("The file wp-config.php of this website is missing.\n");
    }
    require __DIR__ . '/closed.php';
    homeport_close();
}
const HOMEPORT_LIBRARY = __DIR__;
require_once dirname($homeport_root) . '/homeport.php';
