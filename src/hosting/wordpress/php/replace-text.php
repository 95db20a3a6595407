<?php
/**
 * Replaces host names, ports and schemes in the URLs of texts and serialised values, whose lengths it adjusts. For replace-urls.php.
 */
/** A colon and a slash of a URL: plain, in JSON (`\/`, also in JSON within JSON, or `\u002F`), and in queries, also in one within another (`%252F`). */
const URL_COLON = '(?::|%(?:25){0,3}3A)';
const URL_SLASHES = '(?:(?:\\\\{0,7}/|\\\\{1,7}u002f){2}|(?:%(?:25){0,3}2F){2})';
/** Ports that a URL need not name. */
const DEFAULT_PORTS = ['80', '443'];
/** Base64 of a text. Page builders keep the HTML and the settings of their elements in it. */
const BASE64 = '[A-Za-z0-9+/]{16,}+={0,2}+';

/** Replaces the host name in the URLs of a text or a serialised value. */
function replace_in_value(string $value, array $from, array $to): string
{
    // WordPress accepts white space around a serialised value.
    $start = strlen($value) - strlen(ltrim($value));
    $at = $start;
    $rewritten = rewrite_serialised($value, $at, $from, $to);
    return $rewritten !== null && trim(substr($value, $at)) === ''
        ? substr($value, 0, $start) . $rewritten . substr($value, $at)
        : replace_in_shortcodes(replace_in_text($value, $from, $to), $from, $to);
}

/**
 * Replaces URLs in Base64 that is the content or an attribute of a shortcode: `[vc_raw_html]…[/vc_raw_html]`, `[fusion_code]…[/fusion_code]`,
 * `[vc_gmaps link="#E-8_…"]`. Elsewhere Base64 can be signed or belong to a file, so it stays.
 */
function replace_in_shortcodes(string $text, array $from, array $to): string
{
    if ($from === [] || !str_contains($text, '[')) {
        return $text;
    }
    $decoded = static fn(array $found): string => $found[1] . replace_in_base64($found[2], $from, $to);
    $replaced = preg_replace_callback_array([
        '~(\[[a-z][a-z0-9_-]*+(?:\s[^][]*+)?\]\s*+)(' . BASE64 . ')(?=\s*+\[/)~i' => $decoded,
        '~\[[a-z][a-z0-9_-]*+\s[^][]*+\]~i' => static fn(array $tag): string => preg_replace_callback(
            '~(=(?:\\\\{0,7}["\']|&quot;|\\\\u0022)(?:#E-8_)?)(' . BASE64 . ')(?=\\\\{0,7}["\']|&quot;|\\\\u0022)~',
            $decoded,
            $tag[0],
        ) ?? $tag[0],
    ], $text);
    // A text that is too much for PCRE keeps its Base64.
    return $replaced ?? $text;
}

/** Only text, and only if its Base64 has one form. */
function replace_in_base64(string $encoded, array $from, array $to): string
{
    $text = base64_decode($encoded, true);
    if ($text === false || base64_encode($text) !== $encoded || preg_match('/^[^\x00]*+$/uD', $text) !== 1) {
        return $encoded;
    }
    $replaced = replace_in_value($text, $from, $to);
    return $replaced === $text ? $encoded : base64_encode($replaced);
}

/** Patterns that find this name in the Base64 of a text, one for each of its three possible alignments. */
function base64_of(string $name): array
{
    return array_map(static function (int $before) use ($name): string {
        $encoded = base64_encode(str_repeat("\0", $before) . $name);
        // The first and the last characters depend on what is beside the name.
        $first = [0, 2, 3][$before];
        $bits = 8 * ($before + strlen($name));
        return substr($encoded, $first, intdiv($bits, 6) - $first);
    }, [0, 1, 2]);
}

/**
 * Finds URLs in text, in JSON and in queries. The name must end there: neither `example.com.evil.net` nor `example.community` matches
 * `example.com`. A letter before the scheme can be the end of `\n` or `%3D`.
 *
 * `from` names hosts with or without a port. A URL gets the new scheme, host and port if it has the port that is named, or none. If only
 * its host is named, it keeps its scheme and its port, which belong to another service of that host. So does one with another scheme.
 *
 * `to`: `scheme` is `http`, `https` or `keep`; with that, `ports` has the port of each scheme.
 */
function replace_in_text(string $text, array $from, array $to): string
{
    if ($from === []) {
        return $text;
    }
    $from = array_map('strtolower', $from);
    $names = implode('|', array_map(static fn($host) => preg_quote($host, '~'), hosts_of($from)));
    [$host, $port] = explode(':', $to['host']) + [1 => ''];
    $replaced = preg_replace_callback(
        '~(?:(?<![+.-])(https?)(' . URL_COLON . ')|(' . URL_COLON . '))?(' . URL_SLASHES . ")($names)(?![a-z0-9_-]|\\.[a-z0-9])(?:(" . URL_COLON . ')(\d{1,5})(?!\d))?~i',
        static function (array $url) use ($from, $to, $host, $port): string {
            // Another scheme has its colon in `other`.
            [$whole, $scheme, $colon, $other, $slashes, $name] = $url;
            $name = strtolower($name);
            $own = $url[7] ?? '';
            $isNamed = in_array($own === '' || in_array($own, DEFAULT_PORTS, true) ? $name : "$name:$own", $from, true);
            if (!$isNamed && ($own === '' || !in_array($name, $from, true))) {
                return $whole;
            }
            if (!$isNamed || $other !== '') {
                return "$scheme$colon$other$slashes$host" . ($url[6] ?? '') . $own;
            }
            // In the encoding of the rest.
            $before = $url[6] ?? colon_of($colon, $slashes);
            // A URL that keeps its scheme gets the port of that scheme.
            $port = $to['scheme'] === 'keep' && $scheme !== '' ? $to['ports'][strtolower($scheme)] ?? '' : $port;
            $scheme = $scheme === '' || $to['scheme'] === 'keep' ? $scheme : $to['scheme'];
            return "$scheme$colon$slashes$host" . ($port === '' ? '' : "$before$port");
        },
        $text,
    );
    if ($replaced === null) {
        fwrite(STDERR, 'Could not search a value: ' . preg_last_error_msg() . "\n");
        exit(1);
    }
    return $replaced;
}

/** The host names without their ports. */
function hosts_of(array $from): array
{
    return array_values(array_unique(array_map(static fn($host) => explode(':', $host)[0], $from)));
}

/** How the colon before a port is written in a URL with these marks. */
function colon_of(string $colon, string $slashes): string
{
    return match (true) {
        $colon !== '' => $colon,
        str_starts_with($slashes, '%') => preg_replace('/^(%(?:25)*)2F.*$/i', '${1}3A', $slashes),
        default => ':',
    };
}

/**
 * Rewrites one value of PHP's serialisation from `$at` on, and moves `$at` behind it; null if there is none. Never
 * unserialises, because that would run code of any class that a plugin stored in the database.
 */
function rewrite_serialised(string $in, int &$at, array $from, array $to, int $depth = 0): ?string
{
    if ($depth > 200) {
        return null;
    }
    if (preg_match('/\G(?:N;|b:[01];|i:[+-]?\d+;|d:[^;]{1,64};|[rR]:\d+;)/A', $in, $match, 0, $at)) {
        $at += strlen($match[0]);
        return $match[0];
    }
    // Text and enumeration case, with the length in bytes.
    if (preg_match('/\G([sE]):(\d+):"/A', $in, $match, 0, $at)) {
        $start = $at + strlen($match[0]);
        $length = (int) $match[2];
        if (substr($in, $start + $length, 2) !== '";') {
            return null;
        }
        $text = substr($in, $start, $length);
        $at = $start + $length + 2;
        if ($match[1] === 's') {
            $text = replace_in_value($text, $from, $to);
        }
        return $match[1] . ':' . strlen($text) . ':"' . $text . '";';
    }
    // A class with its own format, which only the class can interpret.
    if (preg_match('/\GC:(\d+):"[^"]*":(\d+):\{/A', $in, $match, 0, $at)) {
        $end = $at + strlen($match[0]) + (int) $match[2];
        if (substr($in, $end, 1) !== '}') {
            return null;
        }
        $whole = substr($in, $at, $end + 1 - $at);
        $at = $end + 1;
        return $whole;
    }
    if (preg_match('/\G(?:a|O:\d+:"[^"]*"):(\d+):\{/A', $in, $match, 0, $at)) {
        $out = $match[0];
        $at += strlen($match[0]);
        for ($part = 0; $part < 2 * (int) $match[1]; $part++) {
            // Keep keys: no one looks up an address by key.
            $one = rewrite_serialised($in, $at, $part % 2 === 0 ? [] : $from, $to, $depth + 1);
            if ($one === null) {
                return null;
            }
            $out .= $one;
        }
        if (substr($in, $at, 1) !== '}') {
            return null;
        }
        $at++;
        return $out . '}';
    }
    return null;
}
