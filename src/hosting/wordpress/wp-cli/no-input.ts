/** The message of a command that wants to read input. */
export const NO_INPUT =
  'The command asks for input, and there is none. Give every value as an argument, and --yes to confirm.';

/**
 * PHP code that runs before WP-CLI. Standard input is one that no program can read: open for writing on Linux, and failing in WebAssembly.
 * WP-CLI takes a failed reading for an empty answer, so it would end with status 0 after a question, or store an empty value.
 */
export const NO_INPUT_CODE = `set_error_handler(static function (int $type, string $message): bool {
    if (preg_match('/Read of \\d+ bytes failed with errno=(9 Bad file descriptor|29 I\\/O error)/', $message) !== 1) {
        return false;
    }
    fwrite(STDERR, "\nError: ${NO_INPUT}\n");
    exit(1);
}, E_NOTICE);
`;
