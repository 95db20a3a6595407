<?php
/**
 * With HOMEPORT_BARE=1 in the environment: hides wp-content from WordPress, with its must-use plugins, drop-ins, themes and
 * translations, which can all be PHP. Standard input has a user of the database server with rights on HOMEPORT_DATABASE alone, as
 * JSON: triggers and views of that database could reach others with the rights of the install's user.
 */
if (getenv('HOMEPORT_BARE') === '1') {
    define('WP_CONTENT_DIR', __DIR__ . '/no-content');
    (static function (): void {
        $login = json_decode((string) stream_get_contents(STDIN), true, 2, JSON_THROW_ON_ERROR);
        define('DB_USER', $login['user']);
        define('DB_PASSWORD', $login['password']);
    })();
}
