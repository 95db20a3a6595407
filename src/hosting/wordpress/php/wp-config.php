<?php
/**
 * Loads the configuration of the website that runs this shared WordPress. While ABSPATH is the core, WordPress looks for it here.
 */
require_once __DIR__ . '/homeport/website.php';
require HOMEPORT['root'] . '/wp-config.php';
