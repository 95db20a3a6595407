<?php
/** WordPress's object cache functions, and the cache itself, on the connection opened by object-cache.php. */

function wp_cache_init()
{
    $GLOBALS['wp_object_cache'] = new WP_Object_Cache($GLOBALS['homeport_redis']);
}

function wp_cache_add($key, $data, $group = '', $expire = 0)
{
    return $GLOBALS['wp_object_cache']->add($key, $data, $group, (int) $expire);
}

function wp_cache_add_multiple(array $data, $group = '', $expire = 0)
{
    $added = [];
    foreach ($data as $key => $value) {
        $added[$key] = wp_cache_add($key, $value, $group, $expire);
    }
    return $added;
}

function wp_cache_replace($key, $data, $group = '', $expire = 0)
{
    return $GLOBALS['wp_object_cache']->replace($key, $data, $group, (int) $expire);
}

function wp_cache_set($key, $data, $group = '', $expire = 0)
{
    return $GLOBALS['wp_object_cache']->set($key, $data, $group, (int) $expire);
}

function wp_cache_set_multiple(array $data, $group = '', $expire = 0)
{
    return $GLOBALS['wp_object_cache']->set_multiple($data, $group, (int) $expire);
}

function wp_cache_get($key, $group = '', $force = false, &$found = null)
{
    return $GLOBALS['wp_object_cache']->get($key, $group, $force, $found);
}

function wp_cache_get_multiple($keys, $group = '', $force = false)
{
    return $GLOBALS['wp_object_cache']->get_multiple($keys, $group, $force);
}

function wp_cache_delete($key, $group = '')
{
    return $GLOBALS['wp_object_cache']->delete($key, $group);
}

function wp_cache_delete_multiple(array $keys, $group = '')
{
    $deleted = [];
    foreach ($keys as $key) {
        $deleted[$key] = wp_cache_delete($key, $group);
    }
    return $deleted;
}

function wp_cache_incr($key, $offset = 1, $group = '')
{
    return $GLOBALS['wp_object_cache']->change($key, (int) $offset, $group);
}

function wp_cache_decr($key, $offset = 1, $group = '')
{
    return $GLOBALS['wp_object_cache']->change($key, -(int) $offset, $group);
}

function wp_cache_flush()
{
    return $GLOBALS['wp_object_cache']->flush();
}

function wp_cache_flush_runtime()
{
    return $GLOBALS['wp_object_cache']->flush_runtime();
}

function wp_cache_flush_group($group)
{
    return $GLOBALS['wp_object_cache']->flush_group($group);
}

function wp_cache_supports($feature)
{
    return in_array(
        $feature,
        ['add_multiple', 'set_multiple', 'get_multiple', 'delete_multiple', 'flush_runtime', 'flush_group'],
        true,
    );
}

function wp_cache_close()
{
    return true;
}

function wp_cache_add_global_groups($groups)
{
    $GLOBALS['wp_object_cache']->add_global_groups((array) $groups);
}

function wp_cache_add_non_persistent_groups($groups)
{
    $GLOBALS['wp_object_cache']->add_non_persistent_groups((array) $groups);
}

function wp_cache_switch_to_blog($blog_id)
{
    $GLOBALS['wp_object_cache']->switch_to_blog((int) $blog_id);
}

function wp_cache_reset()
{
    return false;
}

/**
 * Keeps values in Redis and, during a request, in memory. If Redis fails during a request, the request continues with the
 * values in memory.
 */
class WP_Object_Cache
{
    public int $cache_hits = 0;
    public int $cache_misses = 0;

    private ?Redis $redis;
    private bool $multisite;
    private string $blog;
    /** Full key => value. */
    private array $memory = [];
    /** Group => true. */
    private array $global = [];
    private array $memory_only = [];

    public function __construct(Redis $redis)
    {
        $this->redis = $redis;
        $this->multisite = is_multisite();
        $this->switch_to_blog(get_current_blog_id());
    }

    public function switch_to_blog(int $blog_id): void
    {
        $this->blog = $this->multisite ? $blog_id . ':' : '';
    }

    public function add_global_groups(array $groups): void
    {
        $this->global += array_fill_keys($groups, true);
    }

    public function add_non_persistent_groups(array $groups): void
    {
        $this->memory_only += array_fill_keys($groups, true);
    }

    public function add($key, $value, $group, int $expire): bool
    {
        if (!$this->is_key($key) || wp_suspend_cache_addition()) {
            return false;
        }
        $full = $this->full($key, $group);
        if (array_key_exists($full, $this->memory)) {
            return false;
        }
        return $this->store($full, $value, $group, $expire, 'NX');
    }

    public function replace($key, $value, $group, int $expire): bool
    {
        if (!$this->is_key($key)) {
            return false;
        }
        $full = $this->full($key, $group);
        if ($this->in_memory_only($group) && !array_key_exists($full, $this->memory)) {
            return false;
        }
        return $this->store($full, $value, $group, $expire, 'XX');
    }

    public function set($key, $value, $group, int $expire): bool
    {
        return $this->is_key($key) && $this->store($this->full($key, $group), $value, $group, $expire, null);
    }

    public function set_multiple(array $values, $group, int $expire): array
    {
        $persistent = !$this->in_memory_only($group) && $values !== [];
        if ($persistent) {
            $this->ask(static fn(Redis $redis) => $redis->multi(Redis::PIPELINE));
        }
        $set = [];
        foreach ($values as $key => $value) {
            $set[$key] = $this->set($key, $value, $group, $expire);
        }
        if ($persistent) {
            $this->ask(static fn(Redis $redis) => $redis->exec());
        }
        return $set;
    }

    public function get($key, $group, $force, &$found)
    {
        $found = false;
        if (!$this->is_key($key)) {
            return false;
        }
        $full = $this->full($key, $group);
        if (array_key_exists($full, $this->memory) && (!$force || $this->in_memory_only($group))) {
            $found = true;
        } elseif (!$this->in_memory_only($group)) {
            $found = $this->remember($full, $this->ask(static fn(Redis $redis) => $redis->get($full)));
        }
        $found ? $this->cache_hits++ : $this->cache_misses++;
        return $found ? $this->own($this->memory[$full]) : false;
    }

    public function get_multiple($keys, $group, $force): array
    {
        $asked = [];
        foreach ($keys as $key) {
            if ($this->is_key($key)) {
                $asked[$key] = $this->full($key, $group);
            }
        }
        if (!$this->in_memory_only($group)) {
            $missing = array_filter($asked, fn($full) => $force || !array_key_exists($full, $this->memory));
            if ($missing !== []) {
                $answers = $this->ask(static fn(Redis $redis) => $redis->mGet(array_values($missing)));
                foreach (array_values($missing) as $at => $full) {
                    $this->remember($full, is_array($answers) ? $answers[$at] : false);
                }
            }
        }
        $values = [];
        foreach ($keys as $key) {
            $full = $asked[$key] ?? null;
            $found = $full !== null && array_key_exists($full, $this->memory);
            $found ? $this->cache_hits++ : $this->cache_misses++;
            $values[$key] = $found ? $this->own($this->memory[$full]) : false;
        }
        return $values;
    }

    public function delete($key, $group): bool
    {
        if (!$this->is_key($key)) {
            return false;
        }
        $full = $this->full($key, $group);
        $had = array_key_exists($full, $this->memory);
        unset($this->memory[$full]);
        if ($this->in_memory_only($group)) {
            return $had;
        }
        return (int) $this->ask(static fn(Redis $redis) => $redis->unlink($full)) > 0;
    }

    /** Adds to an existing number. As in WordPress, other values count as 0, and the result is at least 0. */
    public function change($key, int $by, $group)
    {
        $value = $this->get($key, $group, true, $found);
        if (!$found) {
            return false;
        }
        $full = $this->full($key, $group);
        if (!is_int($value) || $this->in_memory_only($group) || $this->redis === null) {
            $value = max(0, (is_numeric($value) ? (int) $value : 0) + $by);
            $this->store($full, $value, $group, 0, 'KEEPTTL');
            return $value;
        }
        $value = $this->ask(static fn(Redis $redis) => $redis->incrBy($full, $by));
        if (!is_int($value)) {
            return false;
        }
        if ($value < 0) {
            $value = 0;
            $this->store($full, $value, $group, 0, 'KEEPTTL');
        }
        $this->memory[$full] = $value;
        return $value;
    }

    public function flush(): bool
    {
        $this->memory = [];
        return (bool) $this->ask(static fn(Redis $redis) => $redis->flushDB());
    }

    public function flush_runtime(): bool
    {
        $this->memory = [];
        return true;
    }

    public function flush_group($group): bool
    {
        $prefix = $this->full('', $group);
        foreach (array_keys($this->memory) as $full) {
            if (str_starts_with((string) $full, $prefix)) {
                unset($this->memory[$full]);
            }
        }
        if ($this->in_memory_only($group)) {
            return true;
        }
        return (bool) $this->ask(static function (Redis $redis) use ($prefix) {
            $redis->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
            $pattern = addcslashes($prefix, '*?[]^\\') . '*';
            $cursor = null;
            while (is_array($keys = $redis->scan($cursor, $pattern, 1000))) {
                $redis->unlink($keys);
            }
            return true;
        });
    }

    /** For WordPress's debugging tools. */
    public function stats(): void
    {
        printf('<p>Hits: %d, misses: %d</p>', $this->cache_hits, $this->cache_misses);
    }

    private function store(string $full, $value, $group, int $expire, ?string $condition): bool
    {
        $value = $this->own($value);
        if (!$this->in_memory_only($group) && $this->redis !== null) {
            $options = [];
            if ($condition !== null) {
                $options[] = $condition;
            }
            if ($expire > 0) {
                $options['EX'] = $expire;
            }
            $written = $this->written($value);
            // Keep what cannot be serialised (a closure) for this request.
            if ($written !== null && $this->ask(static fn(Redis $redis) => $redis->set($full, $written, $options)) === false) {
                return false;
            }
        }
        $this->memory[$full] = $value;
        return true;
    }

    private function written($value): ?string
    {
        try {
            return is_int($value) ? (string) $value : serialize($value);
        } catch (Exception) {
            return null;
        }
    }

    /** Stores Redis's answer in memory; false if Redis has no value. */
    private function remember(string $full, $answer): bool
    {
        if ($this->redis === null) {
            return array_key_exists($full, $this->memory);
        }
        if (!is_string($answer)) {
            unset($this->memory[$full]);
            return false;
        }
        // Serialised values begin with a letter. Numbers are stored plain, so that Redis can add to them.
        $this->memory[$full] = preg_match('/^-?[0-9]+$/D', $answer) ? (int) $answer : unserialize($answer);
        return true;
    }

    /** Copies objects in and out, so that a caller cannot change another's value. */
    private function own($value)
    {
        return is_object($value) ? clone $value : $value;
    }

    private function full($key, $group): string
    {
        $group = $group === '' || $group === null ? 'default' : (string) $group;
        return (isset($this->global[$group]) ? '' : $this->blog) . $group . ':' . $key;
    }

    private function in_memory_only($group): bool
    {
        return isset($this->memory_only[$group]);
    }

    private function is_key($key): bool
    {
        return is_int($key) || (is_string($key) && trim($key) !== '');
    }

    /** Returns false if Redis does not answer, and asks it no more during this request. */
    private function ask(callable $question)
    {
        if ($this->redis === null) {
            return false;
        }
        try {
            return $question($this->redis);
        } catch (RedisException $error) {
            error_log('Object cache: Redis stopped answering: ' . $error->getMessage());
            $this->redis = null;
            return false;
        }
    }
}
