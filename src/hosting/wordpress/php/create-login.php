<?php
/**
 * Stores a login of a user, which login.php exchanges once. Loads no plugins, so that a broken one does not matter.
 * Arguments: the name of the option, the time in seconds until which it counts, and a user name, or nothing for the oldest
 * administrator. Prints the user name, or why there is none.
 */
const SHORTINIT = true;
require __DIR__ . '/load.php';
require __DIR__ . '/database-error.php';
require __DIR__ . '/oldest-administrator.php';

[, $name, $expires, $login] = $argv + [3 => ''];
// The table of the main site, which every site of a network reads.
$options = $wpdb->base_prefix . 'options';
$user = $login === '' ? homeport_oldest_administrator() : row_of("SELECT ID, user_login FROM $wpdb->users WHERE user_login = %s", $login);
stop_on_error();
if ($user === null) {
    exit(json_encode(['refused' => $login === '' ? 'no_administrator' : 'unknown_user']) . "\n");
}
change("DELETE FROM $options WHERE option_name LIKE %s AND option_value < %s", 'homeport\_login\_%', time());
// The time comes first, for that comparison: it has ten digits until the year 2286.
change(
    "INSERT INTO $options (option_name, option_value, autoload) VALUES (%s, %s, 'no')",
    $name,
    (int) $expires . ' ' . (int) $user->ID,
);
echo json_encode(['user' => $user->user_login]), "\n";

function row_of(string $sql, ...$values): ?object
{
    global $wpdb;
    $row = $wpdb->get_row($wpdb->prepare($sql, ...$values));
    stop_on_error();
    return $row;
}

function change(string $sql, ...$values): void
{
    global $wpdb;
    $wpdb->query($wpdb->prepare($sql, ...$values));
    stop_on_error();
}

function stop_on_error(): void
{
    $error = homeport_database_error();
    if ($error !== '') {
        fwrite(STDERR, $error . "\n");
        exit(1);
    }
}
