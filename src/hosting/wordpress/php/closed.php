<?php
/**
 * The answer to visitors of a website that cannot be shown, such as one that lost its tables. WordPress would offer its installation
 * to them instead. Every website of this host is installed when it is created, and WP-CLI can install it again.
 */

function homeport_close(): void
{
    while (ob_get_level() > 0 && @ob_end_clean()) {
        continue;
    }
    if (!headers_sent()) {
        header_remove('Location');
        http_response_code(503);
        // Shorter than for maintenance, which counts as uptime.
        header('Retry-After: 5');
        header('Cache-Control: no-store');
        header('Content-Type: text/html; charset=utf-8');
    }
    exit(<<<'PAGE'
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>503 Not available now</title></head>
<body><h1>Not available now</h1><p>This website is not available at the moment. Please try again later.</p></body>
</html>

PAGE);
}

/** A filter of redirects: none leads to an installation of WordPress. */
function homeport_refuse_installation($location)
{
    $path = (string) parse_url((string) $location, PHP_URL_PATH);
    if (preg_match('~/wp-admin/(?:install|setup-config)\.php$~D', $path) === 1) {
        homeport_close();
    }
    return $location;
}
