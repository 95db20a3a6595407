<?php
/**
 * Downloads the archive of a website by HTTPS, as the install's user in its sandbox. The firewall closes private addresses to this
 * user, whatever a name or a redirect leads to.
 *
 * Argument: the file to write. Reads `{"url": …, "mostBytes": …}` from standard input, because addresses can contain secrets; in tests also
 * `authority`, a file with the certificate of their own.
 * Prints lines of JSON as import-unpack.php does.
 */
['url' => $url, 'mostBytes' => $mostBytes] = $given = json_decode(stream_get_contents(STDIN), true);
$out = fopen($argv[1], 'xb');
$told = 0;
$fault = null;
$curl = curl_init($url);
curl_setopt_array($curl, [
    CURLOPT_PROTOCOLS => CURLPROTO_HTTPS,
    CURLOPT_REDIR_PROTOCOLS => CURLPROTO_HTTPS,
    CURLOPT_FOLLOWLOCATION => true,
    CURLOPT_MAXREDIRS => 5,
    CURLOPT_FAILONERROR => true,
    CURLOPT_CONNECTTIMEOUT => 20,
    // A server that stalls or trickles must not occupy the install. One that packs the archive first begins late.
    CURLOPT_LOW_SPEED_LIMIT => 10_000,
    CURLOPT_LOW_SPEED_TIME => 300,
    CURLOPT_TIMEOUT => 2 * 3600,
    CURLOPT_USERAGENT => 'Homeport',
    CURLOPT_NOPROGRESS => false,
    CURLOPT_PROGRESSFUNCTION => static function ($curl, int $total, int $done) use (&$told): int {
        $now = intdiv(hrtime(true), 250_000_000);
        if ($now !== $told) {
            echo json_encode(['progress' => [$done, $total > 0 ? $total : null]]), "\n";
        }
        $told = $now;
        return 0;
    },
    CURLOPT_WRITEFUNCTION => static function ($curl, string $bytes) use ($out, $mostBytes, &$fault): int {
        if ($mostBytes > 0 && ftell($out) + strlen($bytes) > $mostBytes) {
            $fault = 'The archive has more bytes than an install may have.';
            return 0;
        }
        return (int) fwrite($out, $bytes);
    },
]);
if (isset($given['authority'])) {
    curl_setopt($curl, CURLOPT_CAINFO, $given['authority']);
}
if (curl_exec($curl) === false) {
    $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
    $host = parse_url(curl_getinfo($curl, CURLINFO_EFFECTIVE_URL), PHP_URL_HOST);
    // The message of curl can repeat the address.
    $reason = $status >= 400 ? "the server answers $status" : strtolower(curl_strerror(curl_errno($curl)));
    echo json_encode(['refused' => $fault ?? "The archive could not be downloaded from $host: $reason. Check the address and that it is public."]), "\n";
    exit(0);
}
echo json_encode(['result' => ['bytes' => ftell($out)]]), "\n";
