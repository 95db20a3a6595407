<?php
/**
 * Compiles the PHP of this core into the folder that opcache.file_cache names, and writes how many files it were. Nothing of it
 * is run. Fails if there was none.
 */
$core = dirname(__DIR__);
$paths = [];
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($core, FilesystemIterator::SKIP_DOTS)) as $file) {
    if ($file->isFile() && $file->getExtension() === 'php') {
        $paths[] = $file->getPathname();
    }
}
// Some files declare stand-ins for functions of wp-includes, and of two that declare the same the second is not compiled.
usort($paths, static fn($a, $b) => [!str_starts_with($a, "$core/wp-includes/"), $a] <=> [!str_starts_with($b, "$core/wp-includes/"), $b]);
// Of such a file websites find no compiled code, and compile it themselves.
error_reporting(0);
$compiled = count(array_filter($paths, opcache_compile_file(...)));
if ($compiled === 0) {
    fwrite(STDERR, "opcache compiles none of $core.\n");
    exit(1);
}
echo $compiled;
// What opcache refused would be the status otherwise.
exit(0);
