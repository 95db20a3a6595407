<?php
/**
 * Prints the address of the website, its active plugins and theme, and its newest post and page. Loads no plugins, so that a broken
 * one does not matter.
 */
const SHORTINIT = true;
require (defined('HOMEPORT') ? HOMEPORT['root'] : dirname(__DIR__)) . '/wp-load.php';
require __DIR__ . '/database-error.php';

$options = $wpdb->base_prefix . 'options';
$posts = $wpdb->base_prefix . 'posts';
$names = ['siteurl', 'home', 'template', 'stylesheet', 'active_plugins', 'page_on_front'];
$places = implode(', ', array_fill(0, count($names), '%s'));
$rows = $wpdb->get_results($wpdb->prepare("SELECT option_name, option_value FROM $options WHERE option_name IN ($places)", $names));
$error = homeport_database_error();
if ($error !== '') {
    fwrite(STDERR, "$error\n");
    exit(1);
}
$values = array_column($rows, 'option_value', 'option_name');
$active = @unserialize($values['active_plugins'] ?? '', ['allowed_classes' => false]);
$front = (int) ($values['page_on_front'] ?? 0);
$id_of = static function (string $type) use ($wpdb, $posts, $front): ?int {
    $id = $wpdb->get_var($wpdb->prepare(
        "SELECT ID FROM $posts WHERE post_type = %s AND post_status = 'publish' AND post_password = '' AND ID <> %d
            ORDER BY post_date DESC, ID DESC LIMIT 1",
        $type,
        $front,
    ));
    return $id === null ? null : (int) $id;
};
$text = static fn($value) => substr((string) $value, 0, 300);
echo "\n", json_encode([
    'siteurl' => $text($values['siteurl'] ?? ''),
    'home' => $text($values['home'] ?? ''),
    'template' => $text($values['template'] ?? ''),
    'stylesheet' => $text($values['stylesheet'] ?? ''),
    'plugins' => array_map($text, array_values(array_filter(is_array($active) ? $active : [], 'is_string'))),
    'post' => $id_of('post'),
    'page' => $id_of('page'),
], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
