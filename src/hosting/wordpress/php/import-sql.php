<?php
/**
 * Rewrites the dump of a foreign database (import-dump.php), so that the install's own user can load it into one database of MariaDB.
 * Prints the SQL. Exits with status 3 and a sentence on standard error for a dump that cannot be imported.
 *
 * Arguments: the dump, the most bytes (0: no limit), and `wpress` for a dump of All-in-One WP Migration.
 *
 * Settings of the session are our own, except the mode that a trigger or procedure is made with. In the strict mode, the server refuses
 * texts in the wrong encoding instead of cutting them.
 */
require __DIR__ . '/import-dump.php';

const MODE = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,STRICT_ALL_TABLES,ALLOW_INVALID_DATES';\n";
const SESSION = "SET NAMES utf8mb4;\nSET SESSION foreign_key_checks = 0, unique_checks = 0, innodb_strict_mode = 0;\n" . MODE;

echo SESSION;
foreach (dump_statements($argv[1], (int) $argv[2], ($argv[3] ?? '') === 'wpress') as $run) {
    ['kind' => $kind, 'sql' => $sql, 'line' => $line] = $run;
    if ($kind === 'program' && str_contains($sql, ';;')) {
        refuse("Line $line of the dump has a trigger or procedure that cannot be imported. Export without --triggers, --routines and --events.");
    }
    echo match ($kind) {
        'names' => "SET NAMES $sql;\n",
        'zone' => "SET SESSION time_zone = '$sql';\n",
        'program' => "SET SESSION sql_mode = '{$run['mode']}';\nDELIMITER ;;\n$sql;;\nDELIMITER ;\n" . MODE,
        // Dumps of MariaDB have values for generated columns, which the strict mode refuses.
        'rows' => $run['isGenerated'] ? "SET STATEMENT sql_mode = 'NO_AUTO_VALUE_ON_ZERO' FOR $sql;\n" : "$sql;\n",
        default => "$sql;\n",
    };
}

function refuse(string $reason): never
{
    fwrite(STDERR, preg_replace('/[\x00-\x1f\x7f]+/', ' ', mb_scrub($reason)));
    exit(3);
}
