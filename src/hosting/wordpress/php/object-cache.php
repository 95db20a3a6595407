<?php
/**
 * WordPress's object cache in the website's Redis. Loaded by the website's object-cache.php. Without Redis, or without PHP's
 * extension for it, this defines nothing, and WordPress uses its own cache, which lasts for one request.
 */
if (!defined('ABSPATH') || !defined('HOMEPORT') || HOMEPORT['redis'] === null || !class_exists('Redis', false)) {
    return;
}

(static function (): void {
    try {
        $redis = new Redis();
        if (!@$redis->connect(HOMEPORT['redis'], 0, 0.5, null, 0, 1.0)) {
            throw new RedisException('it does not answer');
        }
        $GLOBALS['homeport_redis'] = $redis;
    } catch (RedisException $error) {
        error_log('Object cache: no Redis at ' . HOMEPORT['redis'] . ': ' . $error->getMessage());
    }
})();
// In a separate file, because functions of this file would be defined despite the return above.
if (isset($GLOBALS['homeport_redis'])) {
    require __DIR__ . '/redis-object-cache.php';
}
