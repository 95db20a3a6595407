<?php
/**
 * Compiles the PHP of this core into the folder of opcache.file_cache, and prints the number of files. Runs none of it. Fails if
 * nothing was compiled.
 *
 * Leaves out the host's own files: opcache_compile_file declares a class where it is written, and scripts use some above that.
 */
$core = dirname(__DIR__);
$paths = [];
foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($core, FilesystemIterator::SKIP_DOTS)) as $file) {
    if ($file->isFile() && $file->getExtension() === 'php' && $file->getPath() !== __DIR__) {
        $paths[] = $file->getPathname();
    }
}
// Some files declare fallbacks for functions of wp-includes. Of two files that declare the same, PHP skips the second.
usort($paths, static fn($a, $b) => [!str_starts_with($a, "$core/wp-includes/"), $a] <=> [!str_starts_with($b, "$core/wp-includes/"), $b]);
// Websites compile skipped files themselves.
error_reporting(0);
$compiled = count(array_filter($paths, opcache_compile_file(...)));
if ($compiled === 0) {
    fwrite(STDERR, "opcache compiles none of $core.\n");
    exit(1);
}
echo $compiled;
// Otherwise the exit status would reflect skipped files.
exit(0);
