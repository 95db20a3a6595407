<?php
/**
 * Touches a file when plugins, themes or administrators change, so that the host reads the website again. must-use.php loads it.
 */
if (!defined('ABSPATH') || !defined('HOMEPORT')) {
    exit;
}

(static function (): void {
    $touched = false;
    $touch = static function () use (&$touched): void {
        if ($touched) {
            return;
        }
        $touched = true;
        // After the change is in the database. Plugins that show errors must not show that the disk is full.
        add_action('shutdown', static fn() => @touch(dirname(HOMEPORT['root']) . '/private/.wordpress-changed'), PHP_INT_MAX);
    };
    $changes = [
        'activated_plugin', 'deactivated_plugin', 'deleted_plugin', 'upgrader_process_complete', 'switch_theme', 'deleted_theme',
        'update_site_option_auto_update_plugins', 'update_site_option_auto_update_themes',
        'add_site_option_auto_update_plugins', 'add_site_option_auto_update_themes',
        'granted_super_admin', 'revoked_super_admin',
    ];
    foreach ($changes as $change) {
        add_action($change, $touch);
    }
    // Of users only administrators count: a shop's customers register all day.
    $of_role = static fn($role): bool => in_array('administrator', (array) $role, true);
    $of_user = static fn($id): bool => ($user = get_userdata($id)) instanceof WP_User && $of_role($user->roles);
    add_action('set_user_role', static function ($id, $role, $former = []) use ($touch, $of_role): void {
        if ($of_role($role) || $of_role($former)) {
            $touch();
        }
    }, 10, 3);
    foreach (['add_user_role', 'remove_user_role'] as $change) {
        add_action($change, static function ($id, $role) use ($touch, $of_role): void {
            if ($of_role($role)) {
                $touch();
            }
        }, 10, 2);
    }
    foreach (['profile_update', 'delete_user', 'wpmu_delete_user', 'remove_user_from_blog'] as $change) {
        add_action($change, static function ($id) use ($touch, $of_user): void {
            if ($of_user($id)) {
                $touch();
            }
        });
    }
})();
