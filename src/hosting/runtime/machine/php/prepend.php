<?php
/**
 * Runs before each script of a website on the machine's PHP. It starts no programs there, so email goes to the platform by a socket. A
 * script without network has no socket, and its mail is dropped as if it were sent.
 */
if (!function_exists('mail')) {
    function mail(string $to, string $subject, string $message, array|string $additional_headers = [], string $additional_params = ''): bool
    {
        $socket = '/homeport/run/services.sock';
        if (is_array($additional_headers)) {
            $lines = [];
            foreach ($additional_headers as $name => $values) {
                foreach ((array) $values as $value) {
                    if (preg_match('/^[!-9;-~]+$/D', $name) !== 1 || preg_match('/\r(?!\n[ \t])|(?<!\r)\n(?![ \t])|\x00/', $value) !== 0) {
                        throw new ValueError("Header \"$name\" has invalid format, or contains invalid characters");
                    }
                    $lines[] = "$name: $value";
                }
            }
            $additional_headers = implode("\r\n", $lines);
        }
        if (str_contains("$to$subject$additional_headers", "\0")) {
            throw new ValueError('mail(): no argument may contain null bytes');
        }
        $additional_headers = rtrim($additional_headers);
        // An empty line would begin the text.
        if (preg_match('/^[^!-9;-~]|\r\r|\r?\n[\r\n]/', $additional_headers) !== 0) {
            trigger_error('mail(): Multiple or malformed newlines found in additional_header', E_USER_WARNING);
            return false;
        }
        if (!file_exists($socket)) {
            return true;
        }
        // As PHP does: a line break in the address or the subject would begin another header.
        [$to, $subject] = preg_replace('/\r?\n(?![ \t])|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)/', ' ', [rtrim($to), rtrim($subject)]);
        $head = "To: $to\r\nSubject: $subject\r\n" . ($additional_headers === '' ? '' : "$additional_headers\r\n");
        $options = preg_split('/\s+/', trim($additional_params), -1, PREG_SPLIT_NO_EMPTY);
        $request = json_encode(['service' => 'mail', 'arguments' => ['-t', '-i', ...$options]], JSON_INVALID_UTF8_SUBSTITUTE);
        $stream = @stream_socket_client("unix://$socket", $code, $error, 10);
        if ($stream === false) {
            trigger_error('mail(): the platform takes no email now', E_USER_WARNING);
            return false;
        }
        stream_set_timeout($stream, 60);
        $text = "$request\n$head\r\n$message\r\n";
        for ($at = 0; $at < strlen($text); $at += $written) {
            $written = fwrite($stream, substr($text, $at, 65536));
            if ($written === false || $written === 0) {
                return false;
            }
        }
        stream_socket_shutdown($stream, STREAM_SHUT_WR);
        return stream_get_contents($stream) === "ok\n";
    }
}

if (!function_exists('symlink')) {
    // As on a disk without links.
    function symlink(string $target, string $link): bool
    {
        trigger_error('symlink(): Operation not permitted', E_USER_WARNING);
        return false;
    }
    function link(string $target, string $link): bool
    {
        trigger_error('link(): Operation not permitted', E_USER_WARNING);
        return false;
    }
}

if (PHP_SAPI === 'fpm-fcgi') {
    // A page that ends with an error after its first output must not look whole. The platform reads this message beside the page.
    register_shutdown_function(static function (): void {
        $error = error_get_last();
        if ($error !== null && ($error['type'] & (E_ERROR | E_PARSE | E_CORE_ERROR | E_COMPILE_ERROR)) !== 0) {
            error_log('homeport: fatal', 4);
        }
    });
} elseif (is_file('/homeport/job/arguments.json')) {
    // Other users of the machine can read the arguments of a process, so a program gets them here.
    (static function (): void {
        $given = json_decode(file_get_contents('/homeport/job/arguments.json'), true);
        foreach ($given['environment'] as $name => $value) {
            putenv("$name=$value");
            $_SERVER[$name] = $value;
        }
        if ($given['arguments'] !== null) {
            $GLOBALS['argv'] = $_SERVER['argv'] = $given['arguments'];
            $GLOBALS['argc'] = $_SERVER['argc'] = count($given['arguments']);
        }
    })();
}
