<?php
/** The driver through which WordPress uses its SQLite database, also without WordPress. `file`: another database than that of the website. */
function homeport_sqlite_driver(?string $file = null): WP_SQLite_Driver
{
    require_once HOMEPORT_SQLITE . '/wp-includes/database/load.php';
    $path = $file ?? DB_DIR . '/' . DB_FILE;
    $connection = new WP_SQLite_Connection(['path' => $path, 'journal_mode' => SQLITE_JOURNAL_MODE]);
    return new WP_SQLite_Driver($connection, DB_NAME);
}
