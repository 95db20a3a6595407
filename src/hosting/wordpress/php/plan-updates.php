<?php
/**
 * Asks wordpress.org, and plugins that have other sources, for updates. Argument: JSON with `plugins` and `themes`, each "all" or a
 * list of ids: files of plugins or their folders, and folders of themes. Prints the available updates, and why wanted items cannot be updated.
 */
require __DIR__ . '/load.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';
require_once ABSPATH . 'wp-admin/includes/theme.php';
require_once ABSPATH . 'wp-admin/includes/update.php';

$wanted = json_decode($argv[1], true);
$updates = [];
$refused = [];

if ($wanted['plugins'] !== []) {
    $installed = [];
    foreach (get_plugins() as $file => $plugin) {
        $installed[$file] = ['id' => $file, 'name' => $plugin['Name'], 'version' => $plugin['Version']];
    }
    $offers = homeport_offers('update_plugins', 'wp_update_plugins');
    homeport_plan('plugin', $wanted['plugins'], $installed, $offers, static fn($plugin) => true);
}
if ($wanted['themes'] !== []) {
    $installed = [];
    foreach (wp_get_themes() as $folder => $theme) {
        $installed[$folder] = ['id' => $folder, 'name' => $theme->get('Name'), 'version' => $theme->get('Version')];
    }
    $offers = homeport_offers('update_themes', 'wp_update_themes');
    homeport_plan('theme', $wanted['themes'], $installed, $offers, static fn($theme) => !is_link(WP_CONTENT_DIR . "/themes/{$theme['id']}"));
}
echo "\n", json_encode(['updates' => $updates, 'refused' => $refused], JSON_INVALID_UTF8_SUBSTITUTE), "\n";

function homeport_folder(string $file): string
{
    return str_contains($file, '/') ? dirname($file) : basename($file, '.php');
}

/** Newly asked. If no one answers, WordPress's last answer stays and the program fails. */
function homeport_offers(string $transient, callable $ask): array
{
    $last = get_site_transient($transient);
    delete_site_transient($transient);
    $ask();
    $found = get_site_transient($transient);
    if (!is_object($found) || !isset($found->response)) {
        if ($last !== false) {
            set_site_transient($transient, $last);
        }
        fwrite(STDERR, "WordPress cannot reach the directory of plugins and themes.\n");
        exit(3);
    }
    return array_map(static fn($offer) => (array) $offer, (array) $found->response);
}

function homeport_plan(string $kind, $wanted, array $installed, array $offers, callable $is_own): void
{
    global $updates, $refused;
    $folders = array_combine(array_map('homeport_folder', array_keys($installed)), $installed);
    $ids = $wanted === 'all' ? array_keys($installed) : $wanted;
    foreach ($ids as $id) {
        $item = $installed[$id] ?? $folders[$id] ?? null;
        if ($item === null) {
            $refused[] = "There is no $kind \"$id\"";
            continue;
        }
        $offer = $offers[$item['id']] ?? null;
        if ($offer === null) {
            continue;
        }
        $why = homeport_obstacle($item, $offer, $is_own);
        if ($why !== null) {
            if ($wanted !== 'all') {
                $refused[] = "The $kind \"$id\" $why";
            }
            continue;
        }
        $updates[] = [
            'kind' => $kind,
            'id' => (string) $item['id'],
            'name' => homeport_line((string) ($item['name'] ?: $item['id'])),
            'from' => homeport_line((string) $item['version']),
            'to' => homeport_line($offer['new_version']),
        ];
    }
}

function homeport_obstacle(array $item, array $offer, callable $is_own): ?string
{
    if (!$is_own($item)) {
        return 'comes with WordPress and is updated with it';
    }
    if (($offer['package'] ?? '') === '' || !is_string($offer['package']) || !is_string($offer['new_version'] ?? null)) {
        return 'offers no package, perhaps because its licence is missing';
    }
    if (!is_php_version_compatible($offer['requires_php'] ?? '')) {
        return "needs PHP {$offer['requires_php']}";
    }
    if (!is_wp_version_compatible($offer['requires'] ?? '')) {
        return "needs WordPress {$offer['requires']}";
    }
    return null;
}

/** One line of at most 100 characters. */
function homeport_line(string $text): string
{
    return mb_substr(trim(preg_replace('/[\x00-\x1f\x7f]+/', ' ', wp_strip_all_tags($text))), 0, 100);
}
