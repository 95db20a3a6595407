<?php
/**
 * Lets phpMyAdmin speak to the website's SQLite database in place of MySQL. The SQLite plugin of WordPress translates, so that a changed
 * table has the same description as one that WordPress changed. Takes the place of phpMyAdmin's own class for MySQL.
 */
namespace PhpMyAdmin\Dbal;

use Exception;
use Generator;
use PDO;
use PhpMyAdmin\FieldMetadata;
use PhpMyAdmin\Query\Utilities;
use Throwable;
use WP_MySQL_On_SQLite;
use WP_MySQL_On_SQLite_Statement;

require_once HOMEPORT_SQLITE . '/wp-includes/database/load.php';

/** Types and flags of columns that phpMyAdmin knows from the extension for MySQL. */
const MYSQLI = [
    'MYSQLI_TYPE_DECIMAL' => 0, 'MYSQLI_TYPE_TINY' => 1, 'MYSQLI_TYPE_CHAR' => 1, 'MYSQLI_TYPE_SHORT' => 2, 'MYSQLI_TYPE_LONG' => 3,
    'MYSQLI_TYPE_FLOAT' => 4, 'MYSQLI_TYPE_DOUBLE' => 5, 'MYSQLI_TYPE_NULL' => 6, 'MYSQLI_TYPE_TIMESTAMP' => 7,
    'MYSQLI_TYPE_LONGLONG' => 8, 'MYSQLI_TYPE_INT24' => 9, 'MYSQLI_TYPE_DATE' => 10, 'MYSQLI_TYPE_TIME' => 11,
    'MYSQLI_TYPE_DATETIME' => 12, 'MYSQLI_TYPE_YEAR' => 13, 'MYSQLI_TYPE_NEWDATE' => 14, 'MYSQLI_TYPE_BIT' => 16,
    'MYSQLI_TYPE_JSON' => 245, 'MYSQLI_TYPE_NEWDECIMAL' => 246, 'MYSQLI_TYPE_ENUM' => 247, 'MYSQLI_TYPE_SET' => 248,
    'MYSQLI_TYPE_TINY_BLOB' => 249, 'MYSQLI_TYPE_MEDIUM_BLOB' => 250, 'MYSQLI_TYPE_LONG_BLOB' => 251, 'MYSQLI_TYPE_BLOB' => 252,
    'MYSQLI_TYPE_VAR_STRING' => 253, 'MYSQLI_TYPE_STRING' => 254, 'MYSQLI_TYPE_GEOMETRY' => 255,
    'MYSQLI_NOT_NULL_FLAG' => 1, 'MYSQLI_PRI_KEY_FLAG' => 2, 'MYSQLI_UNIQUE_KEY_FLAG' => 4, 'MYSQLI_MULTIPLE_KEY_FLAG' => 8,
    'MYSQLI_BLOB_FLAG' => 16, 'MYSQLI_UNSIGNED_FLAG' => 32, 'MYSQLI_ZEROFILL_FLAG' => 64, 'MYSQLI_BINARY_FLAG' => 128,
    'MYSQLI_ENUM_FLAG' => 256, 'MYSQLI_AUTO_INCREMENT_FLAG' => 512, 'MYSQLI_TIMESTAMP_FLAG' => 1024, 'MYSQLI_SET_FLAG' => 2048,
    'MYSQLI_NUM_FLAG' => 32768, 'MYSQLI_GROUP_FLAG' => 32768,
];
foreach (MYSQLI as $name => $value) {
    if (!defined($name)) {
        define($name, $value);
    }
}

/** The rows of an answer. All are read at once, because an answer that is being read keeps the website from writing. */
final class SqliteResult implements ResultInterface
{
    private array $rows;
    private array $columns = [];
    private int $at = 0;

    public function __construct(WP_MySQL_On_SQLite_Statement $statement)
    {
        for ($index = 0; $index < $statement->columnCount(); $index++) {
            $this->columns[] = $statement->getColumnMeta($index);
        }
        $this->rows = $this->columns === [] ? [] : $statement->fetchAll(PDO::FETCH_NUM);
    }

    public function getIterator(): Generator
    {
        $this->at = 0;
        while (($row = $this->fetchAssoc()) !== []) {
            yield $row;
        }
    }

    public function fetchAssoc(): array
    {
        $row = $this->fetchRow();
        return $row === [] ? [] : array_combine($this->getFieldNames(), $row);
    }

    public function fetchRow(): array
    {
        return $this->rows[$this->at++] ?? [];
    }

    public function fetchValue($field = 0)
    {
        return (is_string($field) ? $this->fetchAssoc() : $this->fetchRow())[$field] ?? false;
    }

    public function fetchAllAssoc(): array
    {
        return iterator_to_array($this->getIterator());
    }

    public function fetchAllColumn(): array
    {
        return array_column($this->rows, 0);
    }

    public function fetchAllKeyPair(): array
    {
        return array_column($this->rows, 1, 0);
    }

    public function numFields(): int
    {
        return count($this->columns);
    }

    public function numRows()
    {
        return count($this->rows);
    }

    public function seek(int $offset): bool
    {
        $this->at = $offset;
        return $offset < count($this->rows);
    }

    public function getFieldsMeta(): array
    {
        return array_map(static function (array $column): FieldMetadata {
            $flags = 0;
            foreach ($column['flags'] ?? [] as $flag) {
                $flags |= match ($flag) {
                    'primary_key' => MYSQLI_PRI_KEY_FLAG,
                    'unique_key' => MYSQLI_UNIQUE_KEY_FLAG,
                    'not_null' => MYSQLI_NOT_NULL_FLAG,
                    'auto_increment' => MYSQLI_AUTO_INCREMENT_FLAG,
                    default => 0,
                };
            }
            // The plugin says in members of this prefix what the extension for MySQL would say.
            foreach ($column as $key => $value) {
                if (str_starts_with($key, 'mysqli:')) {
                    $column[substr($key, strlen('mysqli:'))] = $value;
                }
            }
            return new FieldMetadata($column['type'], $flags, (object) (['flags' => $flags] + $column));
        }, $this->columns);
    }

    public function getFieldNames(): array
    {
        return array_column($this->columns, 'name');
    }
}

final class DbiMysqli implements DbiExtension
{
    private string $error = '';
    private int $affected = 0;

    public function connect($user, $password, array $server)
    {
        $link = new WP_MySQL_On_SQLite(
            sprintf('mysql-on-sqlite:path=%s/%s;dbname=%s', DB_DIR, DB_FILE, DB_NAME),
            null,
            null,
            ['sqlite_journal_mode' => SQLITE_JOURNAL_MODE],
        );
        $link->setAttribute(PDO::ATTR_STRINGIFY_FETCHES, true);
        // As MariaDB has it: WordPress stores dates of zeros.
        $link->query("SET SESSION sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'");
        return $link;
    }

    public function selectDb($databaseName, $link): bool
    {
        return $this->realQuery('USE `' . str_replace('`', '``', (string) $databaseName) . '`', $link, 0) !== false;
    }

    public function realQuery(string $query, $link, int $options)
    {
        $this->error = '';
        $this->affected = 0;
        try {
            $statement = $link->query($query);
            $this->affected = $statement->rowCount();
            return new SqliteResult($statement);
        } catch (Throwable $error) {
            $this->error = $error->getMessage();
            return false;
        }
    }

    public function realMultiQuery($link, $query): bool
    {
        return false;
    }

    public function moreResults($link): bool
    {
        return false;
    }

    public function nextResult($link): bool
    {
        return false;
    }

    public function storeResult($link)
    {
        return false;
    }

    public function getHostInfo($link)
    {
        return 'SQLite';
    }

    public function getProtoInfo($link)
    {
        return 10;
    }

    public function getClientInfo()
    {
        return 'MySQL on SQLite';
    }

    public function getError($link): string
    {
        $GLOBALS['errno'] = $this->error === '' ? 0 : 1105;
        return $this->error === '' ? '' : Utilities::formatError(1105, $this->error);
    }

    public function affectedRows($link)
    {
        return $this->affected;
    }

    public function escapeString($link, $string)
    {
        // Without the quotation marks, which phpMyAdmin adds.
        return substr($link->quote((string) $string), 1, -1);
    }

    public function prepare($link, string $query)
    {
        throw new Exception('SQLite has no prepared statements here.');
    }
}
