<?php
/**
 * Finds an administrator in the tables, without WordPress and its plugins.
 */

/** The oldest administrator of the website; in a network, the oldest of its own administrators. Null without one. */
function homeport_oldest_administrator(): ?object
{
    global $wpdb;
    if (is_multisite()) {
        $stored = $wpdb->get_var($wpdb->prepare("SELECT meta_value FROM $wpdb->sitemeta WHERE meta_key = %s ORDER BY site_id LIMIT 1", 'site_admins'));
        $logins = $stored === null ? [] : @unserialize($stored, ['allowed_classes' => false]);
        $logins = is_array($logins) ? array_values(array_filter($logins, 'is_string')) : [];
        if ($logins !== []) {
            $places = implode(', ', array_fill(0, count($logins), '%s'));
            $found = $wpdb->get_row($wpdb->prepare("SELECT ID, user_login FROM $wpdb->users WHERE user_login IN ($places) ORDER BY ID LIMIT 1", ...$logins));
            if ($found !== null) {
                return $found;
            }
        }
    }
    return $wpdb->get_row($wpdb->prepare(
        "SELECT u.ID, u.user_login FROM $wpdb->users u JOIN $wpdb->usermeta m ON m.user_id = u.ID
            WHERE m.meta_key = %s AND m.meta_value LIKE %s ORDER BY u.ID LIMIT 1",
        $wpdb->base_prefix . 'capabilities',
        '%"administrator";b:1;%',
    ));
}
