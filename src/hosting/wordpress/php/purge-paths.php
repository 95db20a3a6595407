<?php
/**
 * The pages that show a post, a term or a user.
 */
if (!defined('ABSPATH')) {
    exit;
}

/** The pages of a list that are purged at once; later ones follow within a minute. */
const HOMEPORT_FEWEST_LISTED = 2;
const HOMEPORT_MOST_LISTED = 5;

/** Whether visitors can see posts in this status. */
function homeport_is_shown(string $status): bool
{
    $object = get_post_status_object($status);
    return $status === 'inherit' || ($object !== null && $object->public);
}

/**
 * All pages that show a post, if visitors can see it now.
 *
 * @return string[] URLs
 */
function homeport_pages_of_post(int $id): array
{
    $post = get_post($id);
    if (!$post instanceof WP_Post || !homeport_is_shown($post->post_status) || !is_post_type_viewable($post->post_type)) {
        return [];
    }
    return array_merge(
        homeport_own_pages($post),
        homeport_lists_of_type($post->post_type),
        homeport_archives_of($post),
        homeport_feeds_and_sitemaps($post->post_type),
        homeport_rest_pages($post),
    );
}

/** The post itself: its parts, its comment pages, its feed. */
function homeport_own_pages(WP_Post $post): array
{
    $own = (string) get_permalink($post);
    $pages = [$own, (string) get_post_embed_url($post)];
    $parts = 1 + substr_count($post->post_content, '<!--nextpage-->');
    for ($part = 2; $part <= min($parts, 20); $part++) {
        $pages[] = homeport_below($own, "$part");
    }
    if (post_type_supports($post->post_type, 'comments')) {
        $pages[] = (string) get_post_comments_feed_link($post->ID);
        $pages[] = (string) get_feed_link('comments_rss2');
        if (get_option('page_comments')) {
            $size = max(1, (int) get_option('comments_per_page'));
            for ($page = 1; $page <= min(20, ceil($post->comment_count / $size)); $page++) {
                $pages[] = homeport_below($own, "comment-page-$page");
            }
        }
    }
    // A picture is shown by the post that it was uploaded to.
    if ($post->post_type === 'attachment' && $post->post_parent > 0) {
        $pages[] = (string) get_permalink($post->post_parent);
    }
    return $pages;
}

/** The home page, the page of posts, and the archive of a type. */
function homeport_lists_of_type(string $type): array
{
    $count = (int) (wp_count_posts($type)->publish ?? 0);
    $has_front_page = get_option('show_on_front') === 'page';
    $lists = $has_front_page ? [home_url('/')] : homeport_list(home_url('/'), $count);
    $posts_page = $has_front_page ? (int) get_option('page_for_posts') : 0;
    if ($posts_page > 0 && $type === 'post') {
        array_push($lists, ...homeport_list((string) get_permalink($posts_page), $count));
    }
    $archive = get_post_type_archive_link($type);
    if (is_string($archive) && $type !== 'post') {
        array_push($lists, ...homeport_list($archive, $count));
        $lists[] = (string) get_post_type_archive_feed_link($type);
    }
    return $lists;
}

/** The archives of its terms with their parents, of its author and of its date. */
function homeport_archives_of(WP_Post $post): array
{
    $pages = [];
    foreach (get_object_taxonomies($post->post_type) as $taxonomy) {
        $terms = get_the_terms($post, $taxonomy);
        foreach (is_array($terms) ? $terms : [] as $term) {
            $pages = array_merge($pages, homeport_pages_of_term($term->term_id, $taxonomy));
        }
    }
    if (post_type_supports($post->post_type, 'author')) {
        $author = (int) $post->post_author;
        $pages = array_merge($pages, homeport_list(get_author_posts_url($author)), [(string) get_author_feed_link($author)]);
    }
    if ($post->post_type === 'post') {
        [$year, $month, $day] = explode('-', substr($post->post_date, 0, 10)) + ['', '', ''];
        array_push($pages, ...homeport_list(get_year_link((int) $year)));
        array_push($pages, ...homeport_list(get_month_link((int) $year, (int) $month)));
        $pages[] = get_day_link((int) $year, (int) $month, (int) $day);
    }
    return $pages;
}

/** The archive of a term, and those of its parents, which list its posts too. */
function homeport_pages_of_term(int $term_id, string $taxonomy): array
{
    if (!is_taxonomy_viewable($taxonomy)) {
        return [];
    }
    $pages = [];
    foreach ([$term_id, ...get_ancestors($term_id, $taxonomy, 'taxonomy')] as $id) {
        $link = get_term_link($id, $taxonomy);
        if (is_string($link)) {
            $term = get_term($id, $taxonomy);
            array_push($pages, ...homeport_list($link, $term instanceof WP_Term ? $term->count : 0));
            $pages[] = (string) get_term_feed_link($id, $taxonomy);
        }
    }
    return $pages;
}

/** WordPress's own sitemaps, and those of the plugins that most websites use. */
function homeport_feeds_and_sitemaps(string $type): array
{
    $pages = [(string) get_feed_link('rss2'), (string) get_feed_link('atom')];
    foreach (['wp-sitemap.xml', "wp-sitemap-posts-$type-1.xml", 'sitemap_index.xml', 'sitemap.xml', "$type-sitemap.xml"] as $name) {
        $pages[] = home_url("/$name");
    }
    return $pages;
}

function homeport_rest_pages(WP_Post $post): array
{
    $route = rest_get_route_for_post($post);
    $list = rest_get_route_for_post_type_items($post->post_type);
    $pages = array_map('rest_url', array_filter([$route, $list]));
    return [...$pages, rest_url('wp/v2/search'), rest_url('wp/v2/comments'), rest_url('oembed/1.0/embed')];
}

/** A list of so many posts, and its next pages. */
function homeport_list(string $url, int $posts = 0): array
{
    $pages = [$url];
    // One more than now, because the list may have been longer before.
    $count = 1 + (int) ceil($posts / max(1, (int) get_option('posts_per_page')));
    for ($page = 2; $page <= max(HOMEPORT_FEWEST_LISTED, min(HOMEPORT_MOST_LISTED, $count)); $page++) {
        $pages[] = homeport_below($url, "page/$page");
    }
    return $pages;
}

/** The address of a part of a page. With plain permalinks, parts are queries, which are purged with the path. */
function homeport_below(string $url, string $part): string
{
    return get_option('permalink_structure') && strpos($url, '?') === false ? rtrim($url, '/') . "/$part/" : $url;
}
