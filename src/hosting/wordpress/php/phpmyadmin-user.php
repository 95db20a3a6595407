<?php
/** Tells phpMyAdmin who signs in. SQLite has no users. A program of its own, because phpMyAdmin loads it as one. */
function get_login_credentials(): array
{
    return ['owner', ''];
}
