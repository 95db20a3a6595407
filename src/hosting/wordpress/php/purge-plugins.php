<?php
/**
 * Purges that plugins ask for: WooCommerce, and the interfaces of Nginx Helper and of Varnish plugins, which send a request for
 * each page to the web server.
 */
if (!defined('ABSPATH') || !defined('HOMEPORT')) {
    exit;
}

(static function (): void {
    foreach (['woocommerce_update_product', 'woocommerce_update_product_variation', 'woocommerce_product_set_stock_status',
        'woocommerce_variation_set_stock_status'] as $action) {
        add_action($action, 'homeport_product_changed');
    }
    foreach (['woocommerce_product_set_stock', 'woocommerce_variation_set_stock'] as $action) {
        add_action($action, static function ($product): void {
            homeport_product_changed(is_object($product) ? $product->get_id() : $product);
        });
    }
    foreach (['wc_after_products_starting_sales', 'wc_after_products_ending_sales', 'woocommerce_settings_saved',
        'rt_nginx_helper_purge_all', 'rt_nginx_helper_after_fastcgi_purge_all'] as $action) {
        add_action($action, static function (): void {
            Homeport_Purge::everything();
        });
    }
    add_filter('pre_http_request', 'homeport_purge_request', 10, 3);
})();

/**
 * Answers requests that purge a page of this website: the method PURGE, and Nginx Helper's path /purge/. They reach no other
 * server, and need no rule in the web server that strangers could use.
 */
function homeport_purge_request($answer, $arguments, $url)
{
    $host = strtolower((string) parse_url($url, PHP_URL_HOST));
    $own = [strtolower((string) parse_url(home_url(), PHP_URL_HOST)), 'localhost', '127.0.0.1'];
    $path = (string) parse_url($url, PHP_URL_PATH);
    $is_method = strtoupper((string) ($arguments['method'] ?? '')) === 'PURGE';
    $is_helper = defined('NGINX_HELPER_BASEPATH') && preg_match('~^/purge(/.*)$~', $path, $matches) === 1;
    if (!in_array($host, $own, true) || (!$is_method && !$is_helper)) {
        return $answer;
    }
    $target = $is_helper ? $matches[1] : ($path === '' ? '/' : $path);
    $headers = array_change_key_case((array) ($arguments['headers'] ?? []), CASE_LOWER);
    // Varnish plugins purge everything by an expression.
    if (strpos($target, '*') !== false || ($headers['x-purge-method'] ?? '') === 'regex') {
        Homeport_Purge::everything();
    } else {
        Homeport_Purge::add($target);
    }
    return [
        'headers' => [],
        'body' => '',
        'response' => ['code' => 200, 'message' => 'OK'],
        'cookies' => [],
        'filename' => null,
    ];
}
