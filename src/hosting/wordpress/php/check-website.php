<?php
/**
 * Lets WordPress ask for updates and test its health, and prints the outcome as one line of JSON. Arguments: `whole` for a website
 * with its plugins, which may have updates from elsewhere, or `plain` for one whose plugins fail; whether to ask (1 or 0); and the
 * address to ask instead of https://api.wordpress.org.
 */
ini_set('display_errors', '0');
[, $mode, $asks, $source] = $argv + [1 => 'plain', '0', 'https://api.wordpress.org'];
// Plugins may print whatever they like.
ob_start(static fn() => '', 4096);
if ($mode === 'whole') {
    require __DIR__ . '/load.php';
} else {
    require __DIR__ . '/load-plain.php';
}
require_once ABSPATH . 'wp-admin/includes/admin.php';

/** Asks for updates of all kinds. Gives the reason for each kind that failed. */
final class Homeport_Update_Check
{
    private const KINDS = ['core/version-check' => 'core', 'plugins/update-check' => 'plugins', 'themes/update-check' => 'themes'];
    private const WITHIN_SECONDS = 10;

    /** @var array<string, ?string> */
    private array $failed = ['core' => null, 'plugins' => null, 'themes' => null];
    private bool $is_asking = false;

    public function __construct(private string $source)
    {
    }

    /** @return array<string, ?string> */
    public function run(): array
    {
        global $wp_filter, $wp_current_filter;
        add_filter('pre_http_request', [$this, 'ask'], PHP_INT_MAX, 3);
        // This host hides updates of WordPress from wp-admin.
        $hidden = $wp_filter['pre_site_transient_update_core'] ?? null;
        unset($wp_filter['pre_site_transient_update_core']);
        // WordPress asks again after a minute, as on its page of updates, instead of twelve hours.
        $wp_current_filter[] = 'load-update-core.php';
        $this->attempt('core', 'update_core', static fn() => wp_version_check());
        $this->attempt('plugins', 'update_plugins', static fn() => wp_update_plugins());
        $this->attempt('themes', 'update_themes', static fn() => wp_update_themes());
        array_pop($wp_current_filter);
        if ($hidden !== null) {
            $wp_filter['pre_site_transient_update_core'] = $hidden;
        }
        remove_filter('pre_http_request', [$this, 'ask'], PHP_INT_MAX);
        return $this->failed;
    }

    private function attempt(string $kind, string $transient, callable $check): void
    {
        try {
            $check();
        } catch (Throwable $error) {
            $this->failed[$kind] = $error->getMessage();
        }
        $known = get_site_transient($transient);
        if ($this->failed[$kind] !== null && is_object($known)) {
            // WordPress notes the time before it asks. Without this, the next check would be left out.
            $known->last_checked = 0;
            set_site_transient($transient, $known);
        }
    }

    /** Answers the requests for updates, to see how they end. Others go their way. */
    public function ask(mixed $answer, mixed $settings, mixed $url): mixed
    {
        $parts = is_string($url) ? parse_url($url) : false;
        $kind = null;
        foreach (self::KINDS as $path => $name) {
            if (($parts['host'] ?? '') === 'api.wordpress.org' && str_starts_with($parts['path'] ?? '', "/$path/")) {
                $kind = $name;
            }
        }
        if ($kind === null || $this->is_asking) {
            return $answer;
        }
        if ($this->failed[$kind] !== null) {
            // WordPress repeats a request for itself without encryption.
            return new WP_Error('homeport', $this->failed[$kind]);
        }
        if ($answer === false) {
            $this->is_asking = true;
            $query = isset($parts['query']) ? "?{$parts['query']}" : '';
            $answer = wp_remote_request($this->source . $parts['path'] . $query, ['timeout' => self::WITHIN_SECONDS] + (array) $settings);
            $this->is_asking = false;
        }
        if (is_wp_error($answer)) {
            $this->failed[$kind] = $answer->get_error_message();
        } elseif (wp_remote_retrieve_response_code($answer) !== 200) {
            $this->failed[$kind] = 'status ' . (int) wp_remote_retrieve_response_code($answer);
        } elseif (!is_array(json_decode(wp_remote_retrieve_body($answer), true))) {
            $this->failed[$kind] = 'the answer is not JSON';
        }
        return $answer;
    }
}

/** WordPress' tests of its health that need no request to itself. A failing test of a plugin is left out. */
function homeport_health(): ?array
{
    if (!class_exists('WP_Site_Health')) {
        require_once ABSPATH . 'wp-admin/includes/class-wp-site-health.php';
    }
    $until = microtime(true) + 15;
    $site = WP_Site_Health::get_instance();
    $counts = ['good' => 0, 'recommended' => 0, 'critical' => 0];
    $issues = [];
    foreach (WP_Site_Health::get_tests()['direct'] ?? [] as $test) {
        if (!is_array($test) || !empty($test['skip_cron']) || microtime(true) > $until) {
            continue;
        }
        $name = $test['test'] ?? null;
        $own = is_string($name) ? [$site, "get_test_$name"] : null;
        try {
            $result = match (true) {
                $own !== null && is_callable($own) => $own(),
                is_callable($name) => $name(),
                default => null,
            };
            $result = apply_filters('site_status_test_result', $result);
        } catch (Throwable) {
            continue;
        }
        $status = $result['status'] ?? null;
        if (!is_string($status) || !isset($counts[$status])) {
            continue;
        }
        $counts[$status]++;
        if ($status !== 'good' && is_string($result['label'] ?? null)) {
            $issues[] = ['label' => mb_strcut(html_entity_decode(wp_strip_all_tags($result['label']), ENT_QUOTES | ENT_HTML5), 0, 1000), 'severity' => $status];
        }
    }
    usort($issues, static fn($one, $other) => strcmp($one['severity'], $other['severity']));
    return [...$counts, 'issues' => array_slice($issues, 0, 50)];
}

/** Newer versions as the website's plugins show them: some add theirs only when WordPress reads the list. */
function homeport_shown(string $transient, callable $version_of): array
{
    $shown = [];
    try {
        foreach ((array) (get_site_transient($transient)->response ?? []) as $key => $offer) {
            $version = is_object($offer) || is_array($offer) ? ((array) $offer)['new_version'] ?? null : null;
            $is_newer = is_string($version) && version_compare($version, (string) $version_of((string) $key), '>');
            if ($is_newer && count($shown) < 1000) {
                $shown[] = ['of' => mb_strcut((string) $key, 0, 1000), 'version' => mb_strcut($version, 0, 1000)];
            }
        }
    } catch (Throwable) {
        // A broken filter of a plugin. What WordPress stored is read anyway.
    }
    return $shown;
}

$check = $asks === '1' ? (new Homeport_Update_Check($source))->run() : null;
$installed = get_plugins();
$line = json_encode([
    'updateCheck' => $check,
    'shownPlugins' => homeport_shown('update_plugins', static fn($file) => $installed[$file]['Version'] ?? '999999'),
    'shownThemes' => homeport_shown('update_themes', static fn($theme) => wp_get_theme($theme)->get('Version')),
    'siteHealth' => $asks === '1' && $mode === 'whole' ? homeport_health() : null,
], JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
fwrite(STDOUT, "\nhomeport:$line\n");
