<?php
/**
 * Reports failed statements without the values in them, which belong to the website's owner.
 */
$wpdb->suppress_errors();

/** The reason of the last failure; empty without one. The SQLite plugin surrounds it with statements as HTML. */
function homeport_database_error(): string
{
    global $wpdb;
    $is_marked = preg_match('~class="error_message"[^>]*>(.*?)</div>~s', $wpdb->last_error, $found) === 1;
    $reason = html_entity_decode(strip_tags($is_marked ? $found[1] : $wpdb->last_error), ENT_QUOTES | ENT_HTML5);
    return mb_strcut(trim(preg_replace('/\s+/', ' ', $reason)), 0, 300);
}
