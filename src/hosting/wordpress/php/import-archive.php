<?php
/**
 * Reads the entries of archives of websites, one after the other: zip, tar (also with gzip), and the format of All-in-One WP
 * Migration. Each reader yields entries with `name`, `type` (`file`, `folder` or another word), `size`, `time` and a function
 * `read` that returns the next bytes, or an empty text at the end. Stops with {@see refuse} at an archive it cannot read.
 */
const BLOCK = 512;
const PIECE = 1 << 20;
/** Header of an entry in an archive of All-in-One WP Migration: name, size, time, folder, and in later versions a checksum. */
const WPRESS_HEADER = 4377;
const LONGEST_HEADER_TEXT = 1 << 16;

/** Ends the script with a sentence for the user, on the last line of its output. */
function refuse(string $reason): never
{
    echo json_encode(['refused' => shown($reason)], JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE), "\n";
    exit(0);
}

/** Names in an archive can contain anything. */
function shown(string $text): string
{
    return preg_replace('/[\x00-\x1f\x7f]+/', ' ', $text);
}

/** Finds out what a file is by its beginning, because names say little. */
function entries_of(string $file): Generator
{
    $in = @fopen($file, 'rb') ?: refuse('The archive cannot be opened. Check the path and the permissions of the file.');
    $start = (string) fread($in, WPRESS_HEADER);
    fclose($in);
    if ($start === '') {
        refuse('The archive is empty.');
    }
    return match (true) {
        str_starts_with($start, "PK\x03\x04"), str_starts_with($start, "PK\x05\x06") => zip_entries($file),
        is_wpress($start) => wpress_entries($file),
        str_starts_with($start, "\x1f\x8b"), substr($start, 257, 5) === 'ustar' => tar_entries($file),
        default => refuse(unknown_format($file, $start)),
    };
}

function unknown_format(string $file, string $start): string
{
    $advice = 'Pack the website as .zip or .tar.gz, with wp-content and one dump of the database, and import that.';
    $format = match (true) {
        str_ends_with(strtolower($file), '.daf') => 'DupArchive (.daf). Duplicator also makes .zip: choose the archive engine ZipArchive in its settings',
        str_ends_with(strtolower($file), '.wpress') => 'encrypted or damaged All-in-One WP Migration. Export it again without a password',
        str_starts_with($start, 'Rar!') => 'RAR',
        str_starts_with($start, "7z\xbc\xaf") => '7-Zip',
        str_starts_with($start, 'BZh') => 'bzip2',
        str_starts_with($start, "\xfd7zXZ") => 'xz',
        str_starts_with($start, "\x28\xb5\x2f\xfd") => 'Zstandard',
        str_starts_with(ltrim($start), '<') => 'HTML: the address leads to a web page instead of a file',
        default => null,
    };
    return ($format === null ? 'The format of the archive is unknown.' : "The archive has the format $format.") . " $advice";
}

function zip_entries(string $file): Generator
{
    $zip = new ZipArchive();
    if ($zip->open($file, ZipArchive::RDONLY) !== true) {
        refuse('The zip archive is damaged or incomplete. Upload it again in binary mode.');
    }
    for ($index = 0; $index < $zip->numFiles; $index++) {
        $stat = $zip->statIndex($index, ZipArchive::FL_ENC_RAW);
        if ($stat === false) {
            refuse('The list of files in the zip archive is damaged. Upload it again in binary mode.');
        }
        // Archives from Windows separate folders in this way, against the standard.
        $name = str_replace('\\', '/', $stat['name']);
        if ($stat['encryption_method'] !== ZipArchive::EM_NONE) {
            refuse("The file \"$name\" is protected by a password. Pack the website without a password.");
        }
        $type = zip_type($zip, $index, $name);
        $stream = null;
        yield [
            'name' => $name,
            'type' => $type,
            'size' => $stat['size'],
            'time' => $stat['mtime'],
            'read' => static function () use ($zip, $index, $name, &$stream): string {
                $stream ??= (method_exists($zip, 'getStreamIndex') ? $zip->getStreamIndex($index) : $zip->getStream($name))
                    ?: refuse("The file \"$name\" in the zip archive cannot be read. Pack it again with the usual compression (deflate).");
                // At a wrong checksum, the rest of the file is missing.
                return (string) @fread($stream, PIECE);
            },
        ];
    }
}

/** Archives made on Unix have the type of a file in the upper half of its attributes. */
function zip_type(ZipArchive $zip, int $index, string $name): string
{
    $system = 0;
    $attributes = 0;
    $zip->getExternalAttributesIndex($index, $system, $attributes);
    $mode = $system === ZipArchive::OPSYS_UNIX ? ($attributes >> 16) & 0170000 : 0;
    return match ($mode) {
        0120000 => 'link',
        0, 0100000, 0040000 => str_ends_with($name, '/') ? 'folder' : 'file',
        default => 'device',
    };
}

function tar_entries(string $file): Generator
{
    // Reads compressed and plain files.
    $in = gzopen($file, 'rb');
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
        if ($type === 'L' || $type === 'K' || $type === 'x' || $type === 'g') {
            $text = read_exactly($in, header_text_size($size));
            read_exactly($in, padding($size));
            if ($type === 'L') {
                $long['path'] = rtrim($text, "\0");
            } elseif ($type === 'x') {
                $long = pax_values($text) + $long;
            }
            continue;
        }
        $left = in_array($type, ["\0", '0', '7'], true) ? $size : 0;
        $padding = padding($left);
        $name = $long['path'] ?? tar_name($header);
        yield [
            'name' => $name,
            'type' => tar_type($type, $name, $long),
            'size' => $left,
            'time' => tar_number(substr($header, 136, 12)),
            'read' => static function () use ($in, &$left): string {
                $bytes = $left === 0 ? '' : (string) gzread($in, min($left, PIECE));
                $left -= strlen($bytes);
                return $bytes;
            },
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

function tar_type(string $type, string $name, array $long): string
{
    if (isset($long['sparse'])) {
        return 'sparse file';
    }
    return match ($type) {
        "\0", '0', '7' => str_ends_with($name, '/') ? 'folder' : 'file',
        '5' => 'folder',
        '1', '2' => 'link',
        '3', '4', '6' => 'device',
        'S' => 'sparse file',
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
        if ($key === 'path') {
            $values['path'] = $value;
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
        $more = gzread($in, $length - strlen($bytes));
        if ($more === false || $more === '') {
            break;
        }
        $bytes .= $more;
    }
    return $bytes;
}

/** The first entry is package.json, whose values the plugin needs before all others. */
function is_wpress(string $header): bool
{
    return strlen($header) === WPRESS_HEADER
        && rtrim(substr($header, 0, 255), "\0") === 'package.json'
        && preg_match('/^\d+\0*$/', substr($header, 255, 14)) === 1;
}

function wpress_entries(string $file): Generator
{
    $in = fopen($file, 'rb');
    for (;;) {
        $header = (string) stream_get_contents($in, WPRESS_HEADER);
        if (strlen($header) < WPRESS_HEADER) {
            refuse('The .wpress archive is incomplete: it ends too early. Upload it again in binary mode.');
        }
        ['name' => $name, 'size' => $size, 'time' => $time, 'folder' => $folder] = unpack('a255name/a14size/a12time/a4088folder', $header);
        $name = rtrim($name, "\0");
        // The last header is empty, and in later versions has the size of the whole archive.
        if ($name === '') {
            return;
        }
        $left = (int) $size;
        $folder = rtrim($folder, "\0");
        yield [
            'name' => $folder === '.' || $folder === '' ? $name : "$folder/$name",
            'type' => 'file',
            'size' => $left,
            'time' => (int) $time,
            'read' => static function () use ($in, &$left): string {
                $bytes = $left === 0 ? '' : (string) fread($in, min($left, PIECE));
                $left -= strlen($bytes);
                return $bytes;
            },
        ];
        while ($left > 0) {
            $skipped = strlen((string) fread($in, min($left, PIECE)));
            if ($skipped === 0) {
                refuse('The .wpress archive is incomplete: it ends too early. Upload it again in binary mode.');
            }
            $left -= $skipped;
        }
    }
}
