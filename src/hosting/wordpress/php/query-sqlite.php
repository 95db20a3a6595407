<?php
/** Runs a statement of MySQL, given by standard input, on the SQLite database of a website. Prints its rows as lists in JSON. */
require __DIR__ . '/sqlite-driver.php';

$rows = homeport_sqlite_driver()->query(stream_get_contents(STDIN), PDO::FETCH_NUM);
echo json_encode(is_array($rows) ? $rows : [], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
