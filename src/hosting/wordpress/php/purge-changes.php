<?php
/**
 * Finds out which pages a change in WordPress affects. What it cannot tell for sure affects everything.
 */
if (!defined('ABSPATH') || !defined('HOMEPORT')) {
    exit;
}

(static function (): void {
    $everything = static function (): void {
        Homeport_Purge::everything();
    };
    // The address and the terms before a change: visitors must no longer find the post there.
    $before = static function ($id): void {
        Homeport_Purge::add(...homeport_pages_of_post((int) $id));
    };

    add_action('pre_post_update', $before);
    // Earlier than the update, because WordPress renames a post before it goes to the trash.
    add_action('wp_trash_post', $before);
    add_action('before_delete_post', $before);
    add_action('delete_attachment', $before);
    add_action('transition_post_status', 'homeport_post_changed', 10, 3);
    add_action('post_updated', 'homeport_page_renamed', 10, 3);
    foreach (['add_attachment', 'edit_attachment'] as $action) {
        add_action($action, static function ($id): void {
            Homeport_Purge::post((int) $id);
        });
    }
    add_action('set_object_terms', static function ($id, $terms, $now, $taxonomy, $append, $earlier): void {
        $changed = array_merge(array_diff($now, $earlier), array_diff($earlier, $now));
        if ($changed !== [] && homeport_pages_of_post((int) $id) !== []) {
            Homeport_Purge::post((int) $id);
            foreach ($changed as $tt_id) {
                $term = get_term_by('term_taxonomy_id', (int) $tt_id, $taxonomy);
                if ($term instanceof WP_Term) {
                    Homeport_Purge::add(...homeport_pages_of_term($term->term_id, $taxonomy));
                }
            }
        }
    }, 10, 6);
    foreach (['added_post_meta', 'updated_post_meta', 'deleted_post_meta'] as $action) {
        add_action($action, 'homeport_meta_changed', 10, 3);
    }

    add_action('transition_comment_status', static function ($new, $old, $comment): void {
        if (in_array('approved', [$new, $old], true)) {
            Homeport_Purge::post((int) $comment->comment_post_ID);
        }
    }, 10, 3);
    $comment_changed = static function ($id): void {
        $comment = get_comment($id);
        if ($comment instanceof WP_Comment && $comment->comment_approved === '1') {
            Homeport_Purge::post((int) $comment->comment_post_ID);
        }
    };
    foreach (['wp_insert_comment', 'edit_comment', 'delete_comment'] as $action) {
        add_action($action, $comment_changed);
    }

    foreach (['edited_term', 'delete_term'] as $action) {
        add_action($action, static function ($id, $tt_id, $taxonomy): void {
            if ($taxonomy === 'nav_menu' || is_taxonomy_viewable($taxonomy)) {
                Homeport_Purge::everything();
            }
        }, 10, 3);
    }
    // An author's name is on all pages of the author. Customers of a shop are not authors.
    add_action('profile_update', static function ($id): void {
        if (count_user_posts((int) $id, get_post_types(['public' => true])) > 0) {
            Homeport_Purge::everything();
        }
    });

    foreach (['added_option', 'updated_option', 'deleted_option'] as $action) {
        add_action($action, static function ($name): void {
            if (homeport_option_is_shown((string) $name)) {
                Homeport_Purge::everything();
            }
        });
    }
    $whole = ['switch_theme', 'customize_save_after', 'wp_update_nav_menu', 'wp_delete_nav_menu', 'permalink_structure_changed',
        'activated_plugin', 'deactivated_plugin', 'upgrader_process_complete', 'deleted_user', 'import_end'];
    foreach ($whole as $action) {
        add_action($action, $everything);
    }
})();

/** A post appeared, changed or disappeared. */
function homeport_post_changed($new, $old, $post): void
{
    if (!homeport_is_shown((string) $new) && !homeport_is_shown((string) $old)) {
        return;
    }
    if (in_array($post->post_type, ['revision', 'customize_changeset', 'oembed_cache', 'user_request'], true)) {
        return;
    }
    if ($post->post_type === 'product_variation') {
        Homeport_Purge::post((int) $post->post_parent);
    } elseif (is_post_type_viewable($post->post_type)) {
        Homeport_Purge::post((int) $post->ID);
        // Themes list pages in their navigation.
        if ($new !== $old && is_post_type_hierarchical($post->post_type)) {
            Homeport_Purge::everything();
        }
    } elseif (homeport_is_part_of_pages($post->post_type)) {
        Homeport_Purge::everything();
    }
}

/** Menus, templates, reusable blocks, styles, and what a page builder keeps as posts. Orders and logs of plugins are not. */
function homeport_is_part_of_pages(string $type): bool
{
    $known = ['nav_menu_item', 'wp_template', 'wp_template_part', 'wp_global_styles', 'wp_navigation', 'wp_block', 'custom_css'];
    return in_array($type, $known, true) || homeport_can('edit_theme_options');
}

/** The name or place of a page changed, which menus show. */
function homeport_page_renamed($id, $after, $before): void
{
    if (!is_post_type_hierarchical($after->post_type) || !homeport_is_shown($after->post_status)) {
        return;
    }
    foreach (['post_title', 'post_name', 'post_parent', 'menu_order'] as $field) {
        if ($after->$field !== $before->$field) {
            Homeport_Purge::everything();
        }
    }
}

/**
 * Fields of a post: pictures, page builders, prices. Visitors change fields too, such as counters of views, and each visit would
 * empty the cache; so only editors, schedules and command lines count. Prices and stock always count.
 */
function homeport_meta_changed($meta_ids, $id, $key): void
{
    $internal = ['_edit_lock', '_edit_last', '_pingme', '_encloseme', '_wp_old_slug', '_wp_old_date', '_wp_trash_meta_time',
        '_wp_trash_meta_status', '_wp_desired_post_slug'];
    $of_shop = ['_price', '_regular_price', '_sale_price', '_stock', '_stock_status'];
    if (in_array($key, $internal, true)) {
        return;
    }
    if (in_array($key, $of_shop, true)) {
        homeport_product_changed($id);
    } elseif (PHP_SAPI === 'cli' || wp_doing_cron() || homeport_can('edit_post', $id)) {
        Homeport_Purge::post((int) $id);
    }
}

/** Whether the user may do that. WordPress learns the user only after plugins are loaded, and they may change things before. */
function homeport_can(string $capability, ...$of): bool
{
    return function_exists('wp_get_current_user') && current_user_can($capability, ...$of);
}

/** A variation is shown on the page of its product. */
function homeport_product_changed($id): void
{
    $post = get_post($id);
    if ($post instanceof WP_Post) {
        Homeport_Purge::post($post->post_type === 'product_variation' ? (int) $post->post_parent : (int) $post->ID);
    }
}

/**
 * Whether pages may show an option: WordPress's own, those of themes and widgets, registered settings, and whatever an
 * administrator submits. Other options, such as counters and caches of plugins, also change while visitors read.
 */
function homeport_option_is_shown(string $name): bool
{
    $own = ['blogname', 'blogdescription', 'home', 'siteurl', 'permalink_structure', 'category_base', 'tag_base', 'show_on_front',
        'page_on_front', 'page_for_posts', 'posts_per_page', 'posts_per_rss', 'rss_use_excerpt', 'date_format', 'time_format',
        'start_of_week', 'timezone_string', 'gmt_offset', 'WPLANG', 'template', 'stylesheet', 'sidebars_widgets',
        'nav_menu_options', 'sticky_posts', 'site_icon', 'site_logo', 'blog_public', 'active_plugins', 'page_comments',
        'comments_per_page', 'default_comments_page', 'comment_order', 'thread_comments', 'thread_comments_depth',
        'comment_registration', 'close_comments_for_old_posts', 'close_comments_days_old', 'show_avatars', 'avatar_default',
        'avatar_rating', 'use_smilies', 'blog_charset', 'wp_page_for_privacy_policy'];
    if (in_array($name, $own, true) || preg_match('/^(widget|theme_mods)_/', $name)) {
        return true;
    }
    if (preg_match('/^_(site_)?transient_/', $name) || in_array($name, ['cron', 'rewrite_rules', 'recently_activated', 'uninstall_plugins'], true)) {
        return false;
    }
    if (isset(get_registered_settings()[$name])) {
        return true;
    }
    $is_form = is_admin() && !wp_doing_ajax() && ($_SERVER['REQUEST_METHOD'] ?? '') === 'POST';
    return $is_form && homeport_can('manage_options');
}
