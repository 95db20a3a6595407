<?php
/**
 * Tells the host which cached pages changed: one message at the end of a request, over a Unix socket that only this website
 * can reach, or in a file. The host needs no more than the paths, because it knows the website by its socket or file.
 */
if (!defined('ABSPATH') || !defined('HOMEPORT')) {
    exit;
}

require __DIR__ . '/purge-paths.php';
require __DIR__ . '/purge-changes.php';
require __DIR__ . '/purge-plugins.php';

/** The pages to purge of one request. */
final class Homeport_Purge
{
    /** With more changed posts or paths than this, purging everything is cheaper. */
    private const MOST_POSTS = 20;
    private const MOST_PATHS = 300;
    private const MOST_BYTES = 60000;
    /** An editor waits no longer for the host, in microseconds. The host then purges a moment later. */
    private const WAIT_US = 150000;

    private static bool $everything = false;
    /** @var array<string, true> */
    private static array $paths = [];
    /** @var array<int, true> Posts whose pages are computed at the end, when their terms and addresses are final. */
    private static array $posts = [];

    public static function everything(): void
    {
        self::$everything = true;
    }

    /** Adds pages by URL or path. Other hosts and fragments are left out by the path alone. */
    public static function add(string ...$urls): void
    {
        foreach ($urls as $url) {
            if (self::$everything || $url === '') {
                continue;
            }
            $path = parse_url($url, PHP_URL_PATH) ?? '/';
            // A path that cannot be parsed, or that the host would refuse, belongs to a page all the same.
            if (!is_string($path) || !preg_match('~^/(?!/)[^\x00-\x20\x7f]{0,2000}$~D', $path) || preg_match('~/\.\.?(/|$)~', $path)) {
                self::everything();
                return;
            }
            self::$paths[$path] = true;
            if (count(self::$paths) > self::MOST_PATHS) {
                self::everything();
            }
        }
    }

    /** Adds the pages of a post as it is at the end of the request. */
    public static function post(int $id): void
    {
        self::$posts[$id] = true;
        if (count(self::$posts) > self::MOST_POSTS) {
            self::everything();
        }
    }

    /** Sends what was collected. WordPress works on if that fails: no page stays in the cache longer than a minute. */
    public static function send(): void
    {
        // Addresses are known only to a WordPress that has started.
        if (self::$posts !== [] && !did_action('init')) {
            self::everything();
        }
        if (!self::$everything) {
            foreach (array_keys(self::$posts) as $id) {
                self::add(...homeport_pages_of_post($id));
            }
        }
        $paths = array_map('strval', array_keys(self::$paths));
        $message = self::$everything ? ['everything' => true] : ['paths' => $paths];
        [self::$everything, self::$paths, self::$posts] = [false, [], []];
        if ($message === ['paths' => []]) {
            return;
        }
        $line = json_encode($message, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE);
        self::ask($line === false || strlen($line) > self::MOST_BYTES ? '{"everything":true}' : $line);
    }

    private static function ask(string $line): void
    {
        // A host without sockets for PHP reads this file when the request ends.
        if (str_starts_with(HOMEPORT['purge'], 'file://')) {
            @file_put_contents(substr(HOMEPORT['purge'], 7), "$line\n", FILE_APPEND | LOCK_EX);
            return;
        }
        // Plugins that show errors must not show that the host is restarting.
        set_error_handler(static fn() => true);
        try {
            $socket = stream_socket_client('unix://' . HOMEPORT['purge'], $code, $message, self::WAIT_US / 1e6);
            if ($socket === false) {
                return;
            }
            stream_set_timeout($socket, 0, self::WAIT_US);
            if (fwrite($socket, "$line\n") !== false) {
                // The answer comes once the pages are purged, so an editor who looks at the page sees the change.
                fgets($socket, 16);
            }
            fclose($socket);
        } finally {
            restore_error_handler();
        }
    }
}

// After plugins have made their last changes.
add_action('shutdown', ['Homeport_Purge', 'send'], 1000);
