<?php
/**
 * Changes one plugin or theme with WordPress's own functions. Argument: `whole`, `admin` to load WordPress as in wp-admin, or `plain` to
 * load neither plugins nor the theme, because they fail. Standard input: JSON with kind, id, source, status and autoUpdate (ItemChange). Prints what was changed; or why
 * it was refused, when nothing has changed; or why it failed, when the website may be half changed. A line before that, or the end of
 * PHP without an outcome, says if nothing was changed yet.
 */
$homeport_change = json_decode(stream_get_contents(STDIN), true);
// For fatal errors of plugins and themes. It runs before WordPress's own, which ends the request.
register_shutdown_function('homeport_print_unchanged');
try {
    require match ($argv[1]) {
        'plain' => __DIR__ . '/load-plain.php',
        'admin' => __DIR__ . '/load-as-admin.php',
        default => __DIR__ . '/load.php',
    };
    require_once ABSPATH . 'wp-admin/includes/admin.php';
    require_once ABSPATH . 'wp-admin/includes/class-wp-upgrader.php';
    require_once ABSPATH . 'wp-admin/includes/plugin-install.php';
    // Some plugins prepare for their activation only in wp-admin. Others refuse wp-admin to strangers while WordPress loads.
    defined('WP_ADMIN') || define('WP_ADMIN', true);
    homeport_end((new Homeport_Item_Change($homeport_change))->make());
} catch (Homeport_Refused $refused) {
    homeport_end(['refused' => homeport_line($refused->getMessage())]);
} catch (Homeport_Failed $failed) {
    homeport_end(['failed' => homeport_line($failed->getMessage())]);
} catch (Throwable $error) {
    $place = str_replace(dirname(getenv('HOMEPORT_DOC') ?: '/') . '/', '', $error->getFile());
    $place = mb_strcut(" in $place:{$error->getLine()}", -200);
    homeport_end(['failed' => mb_substr(homeport_line("PHP reports: {$error->getMessage()}"), 0, 300 - mb_strlen($place)) . $place]);
}

/** Prints the last line. Nothing of the website may print another after it. */
function homeport_end(array $outcome): never
{
    homeport_drop_output();
    if (!isset($outcome['changed'])) {
        homeport_print($outcome);
        exit;
    }
    // Hooks at the end of the request belong to the change, such as the mark that the host reads.
    register_shutdown_function(static fn() => homeport_print($outcome));
    exit;
}

function homeport_drop_output(): void
{
    while (ob_get_level() > 0 && @ob_end_clean()) {
        continue;
    }
}

/** Once at most, and never after the outcome. */
function homeport_print_unchanged(): void
{
    if (Homeport_Progress::$is_begun === false) {
        Homeport_Progress::$is_begun = null;
        fwrite(STDOUT, "\n" . '{"unchanged":true}' . "\n");
    }
}

function homeport_print(array $outcome): void
{
    homeport_print_unchanged();
    fwrite(STDOUT, "\n" . json_encode($outcome, JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
}

function homeport_line(string $text): string
{
    $plain = html_entity_decode(preg_replace('/<[^>]*>/', ' ', $text), ENT_QUOTES, 'UTF-8');
    return mb_substr(rtrim(trim(preg_replace('/[\x00-\x20\x7f]+/', ' ', $plain)), '.'), 0, 300);
}

final class Homeport_Progress
{
    /** Whether a change may have begun; null once it was printed that none has. */
    public static ?bool $is_begun = false;
}

/** Nothing was changed. */
final class Homeport_Refused extends Exception
{
}

/** The website may be half changed. */
final class Homeport_Failed extends Exception
{
}

final class Homeport_Item_Change
{
    private string $kind;

    /** Names in the folder of plugins or themes before an installation. */
    private array $before = [];

    public function __construct(private array $change)
    {
        $this->kind = $change['kind'];
    }

    public function make(): array
    {
        if (is_multisite()) {
            throw new Homeport_Refused('This WordPress is a network of sites. Change its plugins and themes in its network admin');
        }
        $id = $this->change['source'] === null ? $this->find((string) $this->change['id']) : $this->install($this->change['source']);
        $shown = $this->describe($id);
        $has_ended = true;
        register_shutdown_function(function () use (&$has_ended, $id, $shown): void {
            if ($has_ended && $this->is_activated($id)) {
                $this->switch_auto_update($id);
                homeport_drop_output();
                homeport_print($this->outcome($id, $shown));
            }
        });
        try {
            $this->require_own($id);
            $this->kind === 'plugin' ? $this->change_plugin($id) : $this->change_theme($id);
        } catch (Homeport_Refused $refused) {
            if ($this->change['source'] !== null) {
                $this->remove_installed($id, $refused);
            }
            throw $refused;
        } finally {
            // Not after `exit`.
            $has_ended = false;
        }
        $this->switch_auto_update($id);
        return $this->outcome($id, $shown);
    }

    private function outcome(string $id, array $shown): array
    {
        return [
            'changed' => ['id' => $id] + $shown,
            'stylesheet' => (string) get_option('stylesheet'),
            'template' => (string) get_option('template'),
        ];
    }

    /** Whether it is active although PHP has ended: many plugins then redirect to their welcome page, and exit. */
    private function is_activated(string $id): bool
    {
        $fatal = E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR | E_USER_ERROR | E_RECOVERABLE_ERROR;
        if ($this->change['status'] !== 'active' || ((error_get_last()['type'] ?? 0) & $fatal) !== 0) {
            return false;
        }
        return $this->kind === 'plugin' ? is_plugin_active($id) : get_option('stylesheet') === $id;
    }

    /** The plugin or theme as WordPress names it. */
    private function find(string $wanted): string
    {
        if ($this->kind === 'theme') {
            // Only whole names of the list: a path such as `../uploads` can be read as a theme too.
            if (isset(wp_get_themes(['errors' => null])[$wanted])) {
                return $wanted;
            }
            throw new Homeport_Refused("There is no theme \"$wanted\"");
        }
        $plugins = array_keys(get_plugins());
        foreach ($plugins as $file) {
            if ($file === $wanted) {
                return $file;
            }
        }
        foreach ($plugins as $file) {
            if ($wanted === (str_contains($file, '/') ? dirname($file) : basename($file, '.php'))) {
                return $file;
            }
        }
        if (isset(get_mu_plugins()[$wanted])) {
            throw new Homeport_Refused("\"$wanted\" is a must-use plugin: WordPress always loads it. Remove its file by SFTP");
        }
        if (isset(get_dropins()[$wanted])) {
            throw new Homeport_Refused("\"$wanted\" is a drop-in: WordPress always loads it. The plugin that put it there removes it");
        }
        throw new Homeport_Refused("There is no plugin \"$wanted\"");
    }

    private function describe(string $id): array
    {
        [$name, $version] = $this->kind === 'plugin'
            ? array_values(array_intersect_key(get_plugin_data(WP_PLUGIN_DIR . "/$id", false, false), ['Name' => 0, 'Version' => 0]))
            : [wp_get_theme($id)->get('Name'), wp_get_theme($id)->get('Version')];
        $version = homeport_line((string) $version);
        return ['name' => homeport_line((string) $name) ?: $id, 'version' => $version === '' ? null : $version];
    }

    /** Themes that came with WordPress are links into it. */
    private function require_own(string $id): void
    {
        if ($this->kind === 'plugin' || !is_link(WP_CONTENT_DIR . "/themes/$id")) {
            return;
        }
        if ($this->change['status'] === 'deleted') {
            throw new Homeport_Refused('The theme comes with WordPress on this host and cannot be deleted');
        }
        if ($this->change['autoUpdate'] === true) {
            throw new Homeport_Refused('The theme comes with WordPress on this host and is updated with it');
        }
    }

    private function change_plugin(string $file): void
    {
        $status = $this->change['status'];
        if ($status === 'inactive' && is_plugin_active($file)) {
            $this->begin();
            deactivate_plugins($file);
            $this->require_success(is_plugin_active($file) ? new WP_Error('still', 'The plugin is still active') : true);
        }
        if ($status === 'deleted') {
            if (is_plugin_active($file)) {
                throw new Homeport_Refused('The plugin is active. Deactivate it first');
            }
            $this->require_no_active_neighbour($file);
            $this->begin();
            $this->require_success(delete_plugins([$file]));
        }
        if ($status === 'active' && !is_plugin_active($file)) {
            $valid = validate_plugin_requirements($file);
            if (is_wp_error($valid)) {
                $this->refuse($valid);
            }
            $this->begin();
            $done = activate_plugin($file);
            // It is active then, whatever it has printed.
            if (is_wp_error($done) && $done->get_error_code() !== 'unexpected_output') {
                $this->require_success($done);
            }
            if (!is_plugin_active($file)) {
                $said = is_wp_error($done) && is_string($done->get_error_data()) ? ": {$done->get_error_data()}" : '';
                throw new Homeport_Failed("The plugin deactivated itself$said");
            }
        }
    }

    /** WordPress deletes the whole folder of a plugin. */
    private function require_no_active_neighbour(string $file): void
    {
        $folder = dirname($file);
        foreach (array_keys(get_plugins()) as $other) {
            if ($folder !== '.' && dirname($other) === $folder && is_plugin_active($other)) {
                throw new Homeport_Refused("The plugin \"$other\" in the same folder is active. Deactivate it first");
            }
        }
    }

    private function change_theme(string $folder): void
    {
        $status = $this->change['status'];
        $theme = wp_get_theme($folder);
        if ($status === 'inactive') {
            throw new Homeport_Refused('A theme is deactivated by activating another one');
        }
        if ($status === 'deleted') {
            if (in_array($folder, [get_option('stylesheet'), get_option('template')], true)) {
                throw new Homeport_Refused('The website uses this theme. Activate another one first');
            }
            $this->begin();
            $this->require_success(delete_theme($folder));
        }
        if ($status === 'active' && get_option('stylesheet') !== $folder) {
            if ($theme->errors()) {
                $this->refuse($theme->errors());
            }
            $valid = validate_theme_requirements($folder);
            if (is_wp_error($valid)) {
                $this->refuse($valid);
            }
            $this->begin();
            switch_theme($folder);
            if (get_option('stylesheet') !== $folder) {
                throw new Homeport_Failed('A plugin or the theme itself switched back to ' . get_option('stylesheet'));
            }
        }
    }

    private function switch_auto_update(string $id): void
    {
        $option = "auto_update_{$this->kind}s";
        $present = array_values(array_filter((array) get_site_option($option, []), 'is_string'));
        $wanted = $this->change['status'] === 'deleted' ? false : $this->change['autoUpdate'];
        if ($wanted === null || $wanted === in_array($id, $present, true)) {
            return;
        }
        $this->begin();
        if (!update_site_option($option, $wanted ? [...$present, $id] : array_values(array_diff($present, [$id])))) {
            throw new Homeport_Failed('WordPress did not store whether it updates it automatically');
        }
    }

    /** Installs a package, and returns the plugin or theme as WordPress names it. */
    private function install(array $source): string
    {
        $this->before = scandir($this->root());
        $skin = new WP_Ajax_Upgrader_Skin();
        $upgrader = $this->kind === 'plugin' ? new Plugin_Upgrader($skin) : new Theme_Upgrader($skin);
        $this->begin();
        $result = $upgrader->install($this->package($source));
        $error = match (true) {
            is_wp_error($result) => $result,
            is_wp_error($skin->result) => $skin->result,
            $skin->get_errors()->has_errors() => $skin->get_errors(),
            $result !== true => new WP_Error('unknown', 'WordPress cannot write its files'),
            default => null,
        };
        if ($error !== null) {
            if (scandir($this->root()) === $this->before) {
                Homeport_Progress::$is_begun = false;
                $this->refuse($error);
            }
            $this->require_success($error);
        }
        wp_clean_plugins_cache();
        wp_clean_themes_cache();
        $id = $this->kind === 'plugin' ? $upgrader->plugin_info() : $upgrader->theme_info()->get_stylesheet();
        if (!is_string($id)) {
            throw new Homeport_Failed('The package contains no plugin');
        }
        return $id;
    }

    /** Removes the folder of a new plugin or theme that cannot be activated. Throws Homeport_Failed if more was installed. */
    private function remove_installed(string $id, Homeport_Refused $refused): void
    {
        global $wp_filesystem;
        $folder = $this->kind === 'plugin' ? dirname($id) : $id;
        $is_new = array_values(array_diff(scandir($this->root()), $this->before)) === [$folder];
        if (!$is_new || !$wp_filesystem->delete($this->root() . "/$folder", true)) {
            throw new Homeport_Failed($refused->getMessage());
        }
        wp_clean_plugins_cache();
        wp_clean_themes_cache();
        Homeport_Progress::$is_begun = false;
    }

    private function root(): string
    {
        return $this->kind === 'plugin' ? WP_PLUGIN_DIR : get_theme_root();
    }

    /** The path or URL of a package. */
    private function package(array $source): string
    {
        if (isset($source['url'])) {
            return $source['url'];
        }
        if (isset($source['file'])) {
            $path = dirname(HOMEPORT['root']) . '/' . $source['file'];
            if (!is_file($path)) {
                throw new Homeport_Refused("There is no file {$source['file']}");
            }
            return $path;
        }
        $answer = $this->kind === 'plugin'
            ? plugins_api('plugin_information', ['slug' => $source['slug'], 'fields' => ['sections' => false]])
            : themes_api('theme_information', ['slug' => $source['slug'], 'fields' => ['sections' => false]]);
        if (is_wp_error($answer)) {
            $this->refuse($answer);
        }
        if (!is_object($answer) || !is_string($answer->download_link ?? null) || $answer->download_link === '') {
            throw new Homeport_Refused("wordpress.org offers no {$this->kind} \"{$source['slug']}\"");
        }
        return $answer->download_link;
    }

    /** From here on the website may be half changed. */
    private function begin(): void
    {
        Homeport_Progress::$is_begun = true;
    }

    private function refuse(WP_Error $error): never
    {
        throw new Homeport_Refused($this->text($error));
    }

    private function require_success($result): void
    {
        if (is_wp_error($result)) {
            throw new Homeport_Failed($this->text($result));
        }
        if ($result !== true) {
            throw new Homeport_Failed('WordPress cannot write its files');
        }
    }

    private function text(WP_Error $error): string
    {
        $data = $error->get_error_data();
        $texts = [...$error->get_error_messages(), ...(is_string($data) ? [$data] : [])];
        return implode(' ', array_unique($texts)) ?: 'WordPress gave no reason';
    }
}
