<?php
/**
 * With HOMEPORT_BARE=1 in the environment: hides wp-content from WordPress, with its must-use plugins, drop-ins, themes and
 * translations, which can all be PHP. A script that loads it can read any database of the install, as the server knows only the user.
 */
if (getenv('HOMEPORT_BARE') === '1') {
    define('WP_CONTENT_DIR', __DIR__ . '/no-content');
}
