<?php
/** Chooses one website of an archive and its dump, from what import-survey.php found. */

/**
 * The websites of an archive: a folder with `wp-content`, and its name for people. In backups of accounts, a folder needs a
 * configuration, and folders such as `.trash` do not count.
 *
 * @return list<array{root: string, folder: string, name: string, config: ?array}>
 */
function websites_of(array $seen): array
{
    $roots = array_map(static fn($content) => $content === 'wp-content' ? '' : substr($content, 0, -strlen('/wp-content')), array_map('strval', array_keys($seen['contents'])));
    if ($seen['isHomeport']) {
        // The private folder can have anything.
        $roots = array_values(array_intersect($roots, ['htdocs']));
    }
    $domains = domains_of($seen);
    $home = cpanel_top($seen) . 'homedir/';
    $websites = array_map(static function ($root) use ($seen, $domains, $home): array {
        $folder = match (true) {
            $root === '' => '.',
            str_starts_with($root, $home) => substr($root, strlen($home)),
            default => $root,
        };
        return ['root' => $root, 'folder' => $folder, 'name' => $domains[$root] ?? $folder, 'config' => config_of($root, $seen)];
    }, $roots);
    if (is_account($seen)) {
        $own = array_filter($websites, static fn($website) => $website['config'] !== null && preg_match('~(?:^|/)\.~', $website['root']) !== 1);
        $websites = $own === [] ? $websites : array_values($own);
    }
    return $websites;
}

/** Whether the archive is the backup of a hosting account, which can have several websites: of cPanel or Plesk. */
function is_account(array $seen): bool
{
    return $seen['isPlesk'] || isset($seen['tops']['userdata']) || cpanel_top($seen) !== null;
}

/** The folder of a backup of cPanel that has `homedir`, with a slash; null for other archives. */
function cpanel_top(array $seen): ?string
{
    foreach (array_keys($seen['contents']) as $content) {
        if (preg_match('~^((?:[^/]+/)?)homedir/~', $content, $match) === 1) {
            return $match[1];
        }
    }
    return null;
}

/** @return array<string, string> domains by folder */
function domains_of(array $seen): array
{
    $domains = [];
    foreach ($seen['userdata'] as $domain => $text) {
        // `main` lists domains, and others are about SSL.
        if (preg_match('/^documentroot:\s*[\'"]?(\S+?)[\'"]?\s*$/m', $text, $match) !== 1 || preg_match('/_SSL$|^main$/', (string) $domain) === 1) {
            continue;
        }
        $home = preg_match('/^homedir:\s*[\'"]?(\S+?)[\'"]?\s*$/m', $text, $found) === 1 ? $found[1] : null;
        if ($home !== null && str_starts_with($match[1], "$home/")) {
            $domains[cpanel_top($seen) . 'homedir' . substr($match[1], strlen($home))] ??= main_name((string) $domain, $seen['userdata']);
        }
    }
    foreach (array_keys($seen['contents']) as $content) {
        $root = dirname($content);
        // Plesk names the folders of other websites of a subscription by their domains.
        if (preg_match('~^(?:(?:.*/)?domains/([^/]+)/)?httpdocs$~', $root, $match) === 1 && ($match[1] ?? $seen['domain']) !== null) {
            $domains[$root] ??= $match[1] ?? $seen['domain'];
        }
    }
    return $domains;
}

/** An addon domain has a subdomain of the main domain, whose file is in `userdata`. */
function main_name(string $subdomain, array $userdata): string
{
    return preg_match('/^\s+([\w.-]+):\s*[\'"]?' . preg_quote($subdomain, '/') . '[\'"]?\s*$/m', $userdata['main'] ?? '', $match) === 1 ? $match[1] : $subdomain;
}

/** The website's own configuration; null without one. WordPress also looks one folder above its own, unless that has a WordPress. */
function config_of(string $root, array $seen): ?array
{
    $configs = $seen['configs'];
    $own = $root === '' ? 'wp-config.php' : "$root/wp-config.php";
    $parent = ltrim(dirname("/$root"), '/');
    $above = $parent === '' ? 'wp-config.php' : "$parent/wp-config.php";
    if (isset($configs[$own]) || (isset($configs[$above]) && !isset($seen['contents'][ltrim("$parent/wp-content", '/')]))) {
        return $configs[$own] ?? $configs[$above];
    }
    $ofDuplicator = preg_grep('~^' . preg_quote($root === '' ? '' : "$root/", '~') . 'dup-installer/~', array_keys($configs));
    return $ofDuplicator === [] ? null : $configs[reset($ofDuplicator)];
}

/** The website to import. `wanted`: the name or folder of one; an empty text lets the archive decide. */
function chosen_website(array $seen, string $wanted): array
{
    $websites = websites_of($seen);
    if ($websites === []) {
        refuse('The archive has no folder wp-content. Pack the folder of the WordPress, or wp-content itself.');
    }
    $choices = listed(array_map('described', $websites), CHOICES);
    if ($wanted !== '') {
        $named = trim($wanted, '/') === '' ? '.' : rtrim($wanted, '/');
        // The folder of one website can be called as the domain of another.
        $found = array_filter($websites, static fn($website) => strcasecmp($website['name'], $named) === 0)
            ?: array_filter($websites, static fn($website) => in_array($named, [$website['folder'], $website['root']], true));
        if ($found !== []) {
            return reset($found);
        }
        refuse("The archive has no website \"$wanted\". It has: $choices.");
    }
    if (is_account($seen)) {
        $nearest = $websites;
    } else {
        // Others are copies and leftovers of the one nearest to the top.
        $depth = min(array_map('depth_of', $websites));
        $nearest = array_values(array_filter($websites, static fn($website) => depth_of($website) === $depth));
    }
    if (count($nearest) > 1) {
        refuse("The archive has several websites: $choices. Import it again, and name one of them as the website (site).");
    }
    return $nearest[0];
}

function described(array $website): string
{
    if ($website['name'] === $website['folder']) {
        return $website['name'] === '.' ? '. (the top folder)' : $website['name'];
    }
    return "{$website['name']} ({$website['folder']})";
}

function depth_of(array $website): int
{
    return $website['root'] === '' ? 0 : 1 + substr_count($website['root'], '/');
}

/** The path of the dump of a website. */
function chosen_dump(array $seen, array $website): string
{
    $content = $website['root'] === '' ? 'wp-content' : "{$website['root']}/wp-content";
    $dumps = array_filter($seen['dumps'], static fn($dump) => !$dump['isRights']);
    $paths = array_map('strval', array_keys($dumps));
    if ($seen['isHomeport'] && isset($dumps['database.sql'])) {
        return 'database.sql';
    }
    $ofDuplicator = array_values(preg_grep('~(?:^|/)dup-installer/dup-database__[^/]+\.sql$~', $paths));
    if (count($ofDuplicator) === 1) {
        return $ofDuplicator[0];
    }
    $database = $website['config']['database'] ?? null;
    if ($database !== null) {
        $named = array_values(array_filter($paths, static fn($path) => preg_replace('/\.sql(?:\.gz)?$/i', '', basename($path)) === $database || $dumps[$path]['database'] === $database));
        // cPanel and Plesk have their own folders of dumps; others are copies that a user made.
        $official = array_values(preg_grep('~^(?:[^/]+/)?mysql/[^/]+$|(?:^|/)databases/[^/]+$~', $named));
        $found = $official === [] ? $named : $official;
        if (count($found) === 1) {
            return $found[0];
        }
        if ($found === [] && is_account($seen)) {
            refuse("The archive has no dump of the database $database, which the website {$website['name']} uses. Make the backup again with its databases.");
        }
    }
    $outside = array_values(array_filter($paths, static fn($path) => !str_starts_with($path, "$content/")));
    $found = $outside === [] ? $paths : $outside;
    if ($found === []) {
        refuse('The archive has no dump of the database (.sql or .sql.gz). Export the database, and pack the dump beside wp-content.');
    }
    if (count($found) > 1) {
        $hint = $database === null ? 'Pack only one, or add the wp-config.php of the website to the archive.' : "Pack only that of the database $database.";
        refuse('The archive has several dumps: ' . listed($found) . ". $hint");
    }
    return $found[0];
}

/** Sentences about what an archive has besides the website. */
function left_out(array $seen, array $website, ?string $dump): array
{
    $notes = [];
    $others = array_filter(websites_of($seen), static fn($other) => $other['root'] !== $website['root']);
    if ($others !== []) {
        $notes[] = 'Not imported: other websites of the archive: ' . listed(array_map('described', array_values($others))) . '.';
    }
    [$used, $dumped] = [$website['config']['database'] ?? null, $seen['dumps'][$dump]['database'] ?? null];
    if ($used !== null && $dumped !== null && $dumped !== $used) {
        $notes[] = "The dump is of the database $dumped, and the wp-config.php of the website names $used.";
    }
    if (!is_account($seen)) {
        return $notes;
    }
    $databases = array_filter($seen['dumps'], static fn($found, $path) => !$found['isRights'] && $path !== $dump && preg_match('~^(?:[^/]+/)?mysql/|(?:^|/)databases/~', $path) === 1, ARRAY_FILTER_USE_BOTH);
    if ($databases !== []) {
        $notes[] = 'Not imported: other databases: ' . listed(array_map(static fn($path) => preg_replace('/\.sql(?:\.gz)?$/i', '', basename($path)), array_keys($databases))) . '.';
    }
    $kinds = ['homedir/mail' => 'email', 'cron' => 'cron jobs', 'dnszones' => 'DNS zones'];
    $found = array_values(array_intersect_key($kinds, $seen['tops']));
    if ($found !== []) {
        $notes[] = 'Not imported: ' . implode(', ', $found) . '.';
    }
    return $notes;
}
