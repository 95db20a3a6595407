<?php
/**
 * The sessions of the administrator for whom the host asks: one, in memory. See probe.php.
 */
final class Homeport_Probe_Session extends WP_Session_Tokens
{
    private static int $user = 0;
    private static string $token = '';

    public static function of(int $user, string $token): void
    {
        self::$user = $user;
        self::$token = $token;
    }

    protected function get_sessions()
    {
        $session = ['expiration' => time() + HOUR_IN_SECONDS, 'ip' => '127.0.0.1', 'ua' => '', 'login' => time()];
        return $this->user_id === self::$user ? [hash('sha256', self::$token) => $session] : [];
    }

    protected function get_session($verifier)
    {
        return $this->get_sessions()[$verifier] ?? null;
    }

    protected function update_session($verifier, $session = null)
    {
    }

    protected function destroy_other_sessions($verifier)
    {
    }

    protected function destroy_all_sessions()
    {
    }

    public static function drop_sessions()
    {
    }
}
