<?php
/**
 * Prints the state of the website that a change should keep: its address, active plugins and theme, numbers of rows, and where its
 * newest content is. Loads no plugins, so that a broken one does not matter.
 * Arguments: `open` with the name of an option and the time in seconds until which it counts, which lets probe.php take requests of the
 * host for those of the oldest administrator; or `close` with that name.
 */
const SHORTINIT = true;
require __DIR__ . '/load.php';
require __DIR__ . '/database-error.php';
require __DIR__ . '/oldest-administrator.php';

[, $step, $session, $expires] = $argv + [1 => '', '', '0'];
$options = $wpdb->base_prefix . 'options';
$posts = $wpdb->base_prefix . 'posts';
$comments = $wpdb->base_prefix . 'comments';
$stop_on_error = static function (): void {
    $error = homeport_database_error();
    if ($error !== '') {
        fwrite(STDERR, "$error\n");
        exit(1);
    }
};
$query = static function (string $sql, ...$values) use ($wpdb, $stop_on_error): array {
    $rows = $wpdb->get_results($values === [] ? $sql : $wpdb->prepare($sql, ...$values));
    $stop_on_error();
    return $rows;
};

$names = ['siteurl', 'home', 'template', 'stylesheet', 'active_plugins', 'page_on_front', 'permalink_structure'];
$places = implode(', ', array_fill(0, count($names), '%s'));
$rows = $query("SELECT option_name, option_value FROM $options WHERE option_name IN ($places)", ...$names);
$values = array_column($rows, 'option_value', 'option_name');
$active = @unserialize($values['active_plugins'] ?? '', ['allowed_classes' => false]);
$front = (int) ($values['page_on_front'] ?? 0);
$id_of = static function (string $type) use ($query, $posts, $front): ?int {
    $found = $query(
        "SELECT ID FROM $posts WHERE post_type = %s AND post_status = 'publish' AND post_password = '' AND ID <> %d
            ORDER BY post_date DESC, ID DESC LIMIT 1",
        $type,
        $front,
    );
    return $found === [] ? null : (int) $found[0]->ID;
};
$upload_of = static function () use ($query, $wpdb): ?string {
    $found = $query("SELECT meta_value FROM {$wpdb->base_prefix}postmeta WHERE meta_key = '_wp_attached_file' ORDER BY meta_id DESC LIMIT 1");
    $file = $found === [] ? '' : (string) $found[0]->meta_value;
    $is_plain = preg_match('~^[\w./ -]{1,200}$~D', $file) === 1 && !str_contains($file, '..');
    return $is_plain && is_file(WP_CONTENT_DIR . "/uploads/$file") ? $file : null;
};
$count = static fn(string $sql): int => (int) ($query($sql)[0]->number ?? 0);
$types = ['post' => 0, 'page' => 0, 'attachment' => 0, 'product' => 0];
foreach ($query("SELECT post_type, COUNT(*) AS number FROM $posts WHERE post_type IN ('post', 'page', 'attachment', 'product')
    AND post_status NOT IN ('auto-draft', 'trash') GROUP BY post_type") as $row) {
    $types[$row->post_type] = (int) $row->number;
}
$rows_of = [
    'posts' => $types['post'],
    'pages' => $types['page'],
    'uploads' => $types['attachment'],
    'products' => $types['product'],
    'users' => $count("SELECT COUNT(*) AS number FROM $wpdb->users"),
    'comments' => $count("SELECT COUNT(*) AS number FROM $comments WHERE comment_approved = '1'
        AND comment_type IN ('', 'comment', 'review')"),
    'options' => $count("SELECT COUNT(*) AS number FROM $options WHERE option_name NOT LIKE '\\_transient\\_%'
        AND option_name NOT LIKE '\\_site\\_transient\\_%' AND option_name NOT LIKE 'homeport\\_%'"),
];
$administrator = homeport_oldest_administrator();
$stop_on_error();

// A failure to write is part of the state.
$write = static function (string $sql, ...$values) use ($wpdb): string {
    $wpdb->query($wpdb->prepare($sql, ...$values));
    return homeport_database_error();
};
$unwritable = '';
if ($step === 'open') {
    $unwritable = $write("DELETE FROM $options WHERE option_name LIKE %s AND option_value < %s", 'homeport\_probe\_%', time());
    $unwritable = $unwritable ?: $write(
        "INSERT INTO $options (option_name, option_value, autoload) VALUES (%s, %s, 'no')",
        $session,
        // The time comes first, for the comparison above.
        (int) $expires . ' ' . (int) ($administrator->ID ?? 0),
    );
} elseif ($step === 'close') {
    $unwritable = $write("DELETE FROM $options WHERE option_name = %s", $session);
}

$text = static fn($value) => substr((string) $value, 0, 300);
echo "\n", json_encode([
    'siteurl' => $text($values['siteurl'] ?? ''),
    'home' => $text($values['home'] ?? ''),
    'template' => $text($values['template'] ?? ''),
    'stylesheet' => $text($values['stylesheet'] ?? ''),
    'plugins' => array_map($text, array_values(array_filter(is_array($active) ? $active : [], 'is_string'))),
    'hasPermalinks' => ($values['permalink_structure'] ?? '') !== '',
    'post' => $id_of('post'),
    'page' => $id_of('page'),
    'upload' => $upload_of(),
    'hasAdministrator' => $administrator !== null,
    'unwritable' => $unwritable === '' ? null : $text($unwritable),
    'rows' => $rows_of,
], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
