<?php
/** Splits statements with many rows. The driver of SQLite builds a tree of each statement, which has hundreds of times its bytes. */
const LONGEST_ROWS = 64 << 10;

/** Statements that do the same one after the other. One without rows, or with a clause behind them, stays whole. */
function short_statements(string $sql): Generator
{
    $begin = preg_match('/^(?:INSERT|REPLACE)\b[^(\'"]*?(?:\([^()\'"]*\)\s*)?\bVALUES\s*(?=\()/i', $sql, $match) === 1 ? $match[0] : null;
    $rows = $begin === null || strlen($sql) <= LONGEST_ROWS ? null : rows_in($sql, strlen($begin));
    if ($rows === null) {
        yield $sql;
        return;
    }
    $first = null;
    foreach ($rows as [$from, $to]) {
        if ($first !== null && $to - $first > LONGEST_ROWS) {
            yield $begin . substr($sql, $first, $end - $first);
            $first = null;
        }
        $first ??= $from;
        $end = $to;
    }
    yield $begin . substr($sql, $first, $end - $first);
}

/** @return list<array{int, int}>|null where each row begins and ends; null if something follows them */
function rows_in(string $sql, int $at): ?array
{
    $rows = [];
    $length = strlen($sql);
    $depth = 0;
    $from = $at;
    while ($at < $length) {
        $at += strcspn($sql, "'\"`()", $at);
        $character = $sql[$at] ?? '';
        if ($character === '(') {
            $from = $depth++ === 0 ? $at : $from;
            $at++;
        } elseif ($character === ')') {
            $at++;
            if (--$depth === 0) {
                $rows[] = [$from, $at];
                $gap = strspn($sql, ", \t\r\n", $at);
                $at += $gap;
                if ($at < $length && $sql[$at] !== '(') {
                    return null;
                }
            }
        } elseif ($character !== '') {
            $at = end_of_text($sql, $at);
        }
    }
    return $rows;
}

function end_of_text(string $sql, int $at): int
{
    $quote = $sql[$at++];
    for (;;) {
        $at += strcspn($sql, $quote === '`' ? '`' : "$quote\\", $at);
        $character = $sql[$at] ?? '';
        if ($character === '\\') {
            $at += 2;
        } elseif ($character === $quote && ($sql[$at + 1] ?? '') === $quote) {
            $at += 2;
        } else {
            return $at + 1;
        }
    }
}
