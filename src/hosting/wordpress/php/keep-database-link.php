<?php
/**
 * Keeps a link to the database (docs/decisions/database-access.md) until database-sessions.php exchanges it. Reads as JSON from
 * standard input: `folder`, `program`, `name` and `content` of the link. Prints what became of it. WordPress is not loaded, so that a broken
 * website does not matter.
 */
(static function (): void {
    ['folder' => $folder, 'program' => $program, 'name' => $name, 'content' => $content] =
        json_decode(stream_get_contents(STDIN), true, 8, JSON_THROW_ON_ERROR);

    if (!is_file($program)) {
        echo '{"link":"no program"}';
        return;
    }
    if (!file_exists($folder) && !is_link($folder)) {
        @mkdir($folder, 0700);
    }
    if (is_link($folder) || !is_dir($folder)) {
        echo '{"link":"no folder"}';
        return;
    }
    foreach (scandir($folder) as $present) {
        $isExpired = preg_match('/^link-(\d{10})-[0-9a-f]{64}$/D', $present, $parts) === 1
            ? (int) $parts[1] <= time()
            // The longest session has 8 hours. Debian's PHP removes none.
            : str_starts_with($present, 'sess_') && @filemtime("$folder/$present") < time() - 8 * 60 * 60;
        if ($isExpired) {
            @unlink("$folder/$present");
        }
    }
    $mask = umask(0077);
    $written = @file_put_contents("$folder/$name", $content);
    umask($mask);
    if ($written !== strlen($content)) {
        @unlink("$folder/$name");
        echo '{"link":"not written"}';
        return;
    }
    echo '{"link":"kept"}';
})();
