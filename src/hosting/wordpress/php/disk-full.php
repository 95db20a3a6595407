<?php
/**
 * Says why a website over its disk quota cannot store files. Its host limits the size of files that PHP writes.
 */
if (!defined('ABSPATH')) {
    exit;
}

(static function (): void {
    // As in the host: FULL_WRITE_BYTES. A system without /proc has no such limit.
    $reason = static fn(): ?string => preg_match('/^Max file size\s+65536\s/m', (string) @file_get_contents('/proc/self/limits'))
        ? 'Disk quota exceeded: this website may use no more space. Delete files, or ask your hosting company for more space.'
        : null;

    $refuse_upload = static function ($file) use ($reason) {
        $full = $reason();
        if ($full !== null && is_array($file)) {
            $file['error'] = $full;
        }
        return $file;
    };
    add_filter('wp_handle_upload_prefilter', $refuse_upload);
    add_filter('wp_handle_sideload_prefilter', $refuse_upload);

    // Plugins and themes.
    add_filter('upgrader_pre_download', static function ($reply) use ($reason) {
        $full = $reply === false ? $reason() : null;
        return $full === null ? $reply : new WP_Error('disk_quota_exceeded', $full);
    });
})();
