<?php
/** Reads the entries of tar archives. See import-archive.php. */
const BLOCK = 512;
const LONGEST_HEADER_TEXT = 1 << 16;
/** The most parts of a file with holes. */
const MOST_PARTS = 100_000;

function is_tar(string $start): bool
{
    return substr($start, 257, 5) === 'ustar';
}

/**
 * A stream of what a file contains, unpacked if it is compressed. PHP cannot read Zstandard, but its program can.
 *
 * @return resource
 */
function open_stream(string $file)
{
    if ((string) file_get_contents($file, false, null, 0, 4) !== ZSTANDARD) {
        return fopen("compress.zlib://$file", 'rb') ?: refuse('The archive cannot be opened. Check the path and the permissions of the file.');
    }
    if (!function_exists('proc_open')) {
        refuse('The archive is compressed with Zstandard, which this host cannot read. Make the backup again with gzip, or pack it again as .tar.gz or .zip.');
    }
    $process = @proc_open(['/usr/bin/zstd', '--decompress', '--stdout', '--quiet', '--', $file], [1 => ['pipe', 'w'], 2 => ['file', '/dev/null', 'w']], $pipes);
    if ($process === false) {
        refuse('The archive is compressed with Zstandard, and this host lacks the program zstd. Ask its operator to install it, or make the backup with gzip.');
    }
    // PHP would wait for a program that nothing refers to, or that still writes at the end of the script.
    register_shutdown_function(static function () use ($process): void {
        proc_terminate($process, 9);
    });
    return $pipes[1];
}

function tar_entries(string $file): Generator
{
    $in = open_stream($file);
    $long = [];
    $isFirst = true;
    for (;;) {
        $header = read_exactly($in, BLOCK);
        if (strlen($header) < BLOCK && !$isFirst) {
            refuse('The tar archive is incomplete: it ends too early. Upload it again in binary mode.');
        }
        if (strlen($header) === BLOCK && trim($header, "\0") === '') {
            return;
        }
        if (strlen($header) < BLOCK || !has_checksum($header)) {
            refuse($isFirst ? 'The compressed file contains no tar archive. Pack wp-content and the dump together as .tar.gz.' : 'The tar archive is damaged.');
        }
        $isFirst = false;
        $type = $header[156];
        $size = $long['size'] ?? tar_number(substr($header, 124, 12));
        if ($size < 0) {
            refuse('The tar archive is damaged: a size in it is impossible.');
        }
        if ($type === 'L' || $type === 'K' || $type === 'x' || $type === 'g') {
            $text = read_exactly($in, header_text_size($size));
            read_exactly($in, padding($size));
            if ($type === 'L' || $type === 'K') {
                $long[$type === 'L' ? 'path' : 'linkpath'] = rtrim($text, "\0");
            } elseif ($type === 'x') {
                $long = pax_values($text) + $long;
            }
            continue;
        }
        $parts = $type === 'S' ? sparse_parts($in, $header) : null;
        $left = in_array($type, ["\0", '0', '7', 'S'], true) ? $size : 0;
        $padding = padding($left);
        $name = $long['path'] ?? tar_name($header);
        $read = static function (?int $most = null) use ($in, &$left): string {
            $bytes = $left === 0 ? '' : (string) fread($in, min($left, $most ?? PIECE));
            $left -= strlen($bytes);
            return $bytes;
        };
        yield [
            'name' => $name,
            'type' => tar_type($type, $name, $long),
            'target' => $long['linkpath'] ?? rtrim(substr($header, 157, 100), "\0"),
            'size' => $parts === null ? $left : tar_number(substr($header, 483, 12)),
            'time' => tar_number(substr($header, 136, 12)),
            'read' => $parts === null ? $read : sparse_reader($read, $parts, tar_number(substr($header, 483, 12))),
        ];
        while ($left > 0) {
            $skipped = strlen(read_exactly($in, min($left, PIECE)));
            if ($skipped === 0) {
                refuse('The tar archive is incomplete: it ends too early. Upload it again in binary mode.');
            }
            $left -= $skipped;
        }
        read_exactly($in, $padding);
        $long = [];
    }
}

/**
 * Where the stored bytes of a file with holes belong, in GNU's old format: offsets and lengths in the header, and in blocks after it.
 *
 * @return list<array{int, int}>
 */
function sparse_parts($in, string $header): array
{
    $parts = [];
    $fields = substr($header, 386, 96);
    $hasMore = $header[482] !== "\0";
    for (;;) {
        foreach (str_split($fields, 24) as $field) {
            if (trim($field, "\0 ") !== '') {
                $parts[] = [tar_number(substr($field, 0, 12)), tar_number(substr($field, 12, 12))];
            }
        }
        if (!$hasMore) {
            return $parts;
        }
        $block = read_exactly($in, BLOCK);
        if (strlen($block) < BLOCK || count($parts) > MOST_PARTS) {
            refuse('The tar archive is damaged: the list of holes of a file is impossible.');
        }
        $fields = substr($block, 0, 504);
        $hasMore = $block[504] !== "\0";
    }
}

/** Reads a file with its holes, as zero bytes. `read` returns at most so many stored bytes. */
function sparse_reader(Closure $read, array $parts, int $size): Closure
{
    $at = 0;
    return static function () use ($read, &$parts, &$at, $size): string {
        while ($parts !== [] && $at >= $parts[0][0] + $parts[0][1]) {
            array_shift($parts);
        }
        if ($at >= $size) {
            return '';
        }
        $next = $parts[0][0] ?? $size;
        $bytes = $at < $next ? str_repeat("\0", min(PIECE, $next - $at, $size - $at)) : $read(min(PIECE, $next + $parts[0][1] - $at));
        $at += strlen($bytes);
        return $bytes;
    };
}

function tar_type(string $type, string $name, array $long): string
{
    if (isset($long['sparse'])) {
        return 'sparse file';
    }
    return match ($type) {
        "\0", '0', '7' => str_ends_with($name, '/') ? 'folder' : 'file',
        'S' => 'file',
        '5' => 'folder',
        '1' => 'hard link',
        '2' => 'link',
        '3', '4', '6' => 'device',
        default => 'entry of an unknown type',
    };
}

function tar_name(string $header): string
{
    $name = rtrim(substr($header, 0, 100), "\0");
    // GNU's tar stores other values in the place of the prefix.
    $prefix = substr($header, 257, 6) === "ustar\0" ? rtrim(substr($header, 345, 155), "\0") : '';
    return $prefix === '' ? $name : "$prefix/$name";
}

/** Octal, or GNU's binary form for large values. */
function tar_number(string $field): int
{
    if ((ord($field[0]) & 0x80) === 0) {
        return (int) octdec(preg_replace('/[^0-7].*$/s', '', ltrim($field)));
    }
    $number = ord($field[0]) & 0x7f;
    foreach (str_split(substr($field, 1)) as $byte) {
        $number = $number * 256 + ord($byte);
    }
    return is_int($number) ? $number : refuse('The tar archive is damaged: a size in it is impossible.');
}

function has_checksum(string $header): bool
{
    $plain = substr_replace($header, str_repeat(' ', 8), 148, 8);
    return array_sum(unpack('C*', $plain)) === tar_number(substr($header, 148, 8));
}

/** Extended headers (POSIX.1-2001): `<length> <key>=<value>` and a line end. */
function pax_values(string $text): array
{
    $values = [];
    while (preg_match('/^(\d{1,6}) /', $text, $match) === 1) {
        $record = substr($text, 0, (int) $match[1]);
        [$key, $value] = explode('=', substr(rtrim($record, "\n"), strlen($match[0])), 2) + [1 => ''];
        if ($key === 'path' || $key === 'linkpath') {
            $values[$key] = $value;
        } elseif ($key === 'size') {
            $values['size'] = (int) $value;
        } elseif (str_starts_with($key, 'GNU.sparse')) {
            $values['sparse'] = true;
        }
        $text = (string) substr($text, max(1, (int) $match[1]));
    }
    return $values;
}

function header_text_size(int $size): int
{
    return $size >= 0 && $size <= LONGEST_HEADER_TEXT ? $size : refuse('The tar archive is damaged: a name in it is too long.');
}

function padding(int $size): int
{
    return (BLOCK - $size % BLOCK) % BLOCK;
}

function read_exactly($in, int $length): string
{
    $bytes = '';
    while (strlen($bytes) < $length) {
        $more = fread($in, $length - strlen($bytes));
        if ($more === false || $more === '') {
            break;
        }
        $bytes .= $more;
    }
    return $bytes;
}

