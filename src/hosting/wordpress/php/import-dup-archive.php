<?php
/**
 * Reads the entries of archives of Duplicator in its own format (.daf). See import-archive.php. An archive is a header and then
 * folders and files; a file has pieces of its content, each compressed alone:
 *
 *     <A><V>version</V><C>compressed</C></A>
 *     <D><MT>time</MT><P>mode</P><RPL>length</RPL><RP>path</RP></D>
 *     <F><FS>size</FS><MT>time</MT><P>mode</P><HA>hash</HA><RPL>length</RPL><RP>path</RP></F>
 *         <G><OS>size</OS><SS>stored size</SS><HA>hash</HA></G> and the stored bytes
 */
const DAMAGED_DUP_ARCHIVE = 'The archive of Duplicator (.daf) is damaged or incomplete. Upload it again in binary mode.';
/** Duplicator writes pieces of 1 MiB. */
const LARGEST_DUP_PIECE = 32 << 20;
const LONGEST_DUP_FIELD = 128;

function is_dup_archive(string $start): bool
{
    return str_starts_with($start, '<A><V>');
}

function dup_archive_entries(string $file): Generator
{
    $in = fopen($file, 'rb');
    $end = filesize($file);
    fseek($in, strlen('<A>'));
    $fields = dup_fields($in, 'A');
    if (in_array($fields['E'] ?? '', ['1', 'true'], true)) {
        refuse('The archive of Duplicator is encrypted. Make the package again without a password.');
    }
    $isCompressed = in_array($fields['C'] ?? '', ['1', 'true'], true);
    while (ftell($in) < $end) {
        $mark = (string) fread($in, 3);
        if ($mark !== '<F>' && $mark !== '<D>') {
            refuse(DAMAGED_DUP_ARCHIVE);
        }
        $fields = dup_fields($in, $mark[1]);
        $left = $mark === '<F>' ? (int) ($fields['FS'] ?? 0) : 0;
        yield [
            'name' => $fields['RP'] ?? '',
            'type' => $mark === '<F>' ? 'file' : 'folder',
            'target' => '',
            'size' => $left,
            'time' => (int) ($fields['MT'] ?? 0),
            'read' => static function () use ($in, $isCompressed, &$left): string {
                return $left > 0 ? dup_piece($in, $left, $isCompressed) : '';
            },
        ];
        while ($left > 0) {
            dup_piece($in, $left, null);
        }
    }
}

/** The fields up to the end of the element `$name`. A path has its length before it, and can contain anything. */
function dup_fields($in, string $name): array
{
    $fields = [];
    for ($count = 0; $count < 16; $count++) {
        $mark = stream_get_line($in, 8, '>');
        if ($mark === "</$name") {
            return $fields;
        }
        $field = is_string($mark) && preg_match('/^<([A-Z]{1,4})$/', $mark, $match) === 1 ? $match[1] : refuse(DAMAGED_DUP_ARCHIVE);
        if ($field === 'RP') {
            $length = (int) ($fields['RPL'] ?? 0);
            $value = $length > 0 && $length <= LONGEST_TARGET ? (string) fread($in, $length) : '';
            fseek($in, strlen('</RP>'), SEEK_CUR);
        } else {
            $value = (string) stream_get_line($in, LONGEST_DUP_FIELD, "</$field>");
        }
        $fields[$field] = $value;
    }
    refuse(DAMAGED_DUP_ARCHIVE);
}

/** The next piece of a file, whose bytes `left` then exclude. `isCompressed`: null to skip it. */
function dup_piece($in, int &$left, ?bool $isCompressed): string
{
    $mark = (string) fread($in, 3);
    $fields = $mark === '<G>' ? dup_fields($in, 'G') : [];
    [$size, $stored] = [(int) ($fields['OS'] ?? 0), (int) ($fields['SS'] ?? 0)];
    if ($size <= 0 || $stored <= 0 || max($size, $stored) > LARGEST_DUP_PIECE) {
        refuse(DAMAGED_DUP_ARCHIVE);
    }
    $left = max(0, $left - $size);
    if ($isCompressed === null) {
        fseek($in, $stored, SEEK_CUR);
        return '';
    }
    $bytes = (string) stream_get_contents($in, $stored);
    $bytes = strlen($bytes) === $stored && $isCompressed ? @gzinflate($bytes, $size) : $bytes;
    return is_string($bytes) && strlen($bytes) === $size ? $bytes : refuse(DAMAGED_DUP_ARCHIVE);
}
