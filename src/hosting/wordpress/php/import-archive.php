<?php
/**
 * Reads the entries of archives of websites, one after the other: zip, tar (also with gzip or Zstandard), and the formats of All-in-One
 * WP Migration and Duplicator. Each reader yields entries with `name`, `type` (`file`, `folder`, `link`, `hard link` or another word),
 * `target` of a link, `size`, `time` and a function `read` that returns the next bytes, or an empty text at the end. Stops with
 * {@see refuse} at an archive it cannot read.
 */
require __DIR__ . '/import-tar.php';
require __DIR__ . '/import-dup-archive.php';

const PIECE = 1 << 20;
const LONGEST_TARGET = 4096;
const GZIP = "\x1f\x8b";
const ZSTANDARD = "\x28\xb5\x2f\xfd";
/** Header of an entry in an archive of All-in-One WP Migration: name, size, time, folder, and in later versions a checksum. */
const WPRESS_HEADER = 4377;

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
        is_dup_archive($start) => dup_archive_entries($file),
        str_starts_with($start, GZIP), str_starts_with($start, ZSTANDARD), is_tar($start) => tar_entries($file),
        default => refuse(unknown_format($file, $start)),
    };
}

function unknown_format(string $file, string $start): string
{
    $advice = 'Pack the website as .zip or .tar.gz, with wp-content and one dump of the database, and import that.';
    $format = match (true) {
        str_ends_with(strtolower($file), '.daf') => 'DupArchive (.daf), and it is damaged. Upload it again in binary mode',
        str_ends_with(strtolower($file), '.wpress') => 'encrypted or damaged All-in-One WP Migration. Export it again without a password',
        str_starts_with($start, 'Rar!') => 'RAR',
        str_starts_with($start, "7z\xbc\xaf") => '7-Zip',
        str_starts_with($start, 'BZh') => 'bzip2',
        str_starts_with($start, "\xfd7zXZ") => 'xz',
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
            'target' => $type === 'link' && $stat['size'] <= LONGEST_TARGET ? (string) $zip->getFromIndex($index) : '',
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
