<?php
/** Loads the WordPress of the website that a script runs for. */
require (defined('HOMEPORT') ? HOMEPORT['root'] : dirname(__DIR__)) . '/wp-load.php';
