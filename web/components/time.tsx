import { useEffect, useState } from 'react';
import { formatTime, relativeTime } from './formatted-time.ts';

/** Returns the current time, updated at this interval. */
export function useNow(everyMs: number): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** A relative time, with the exact time as its tooltip. `exact` shows the exact time. */
export function Time({ at, exact = false }: { at: string; exact?: boolean }) {
  const now = useNow(30_000);
  return (
    <time dateTime={at} title={formatTime(at)}>
      {exact ? formatTime(at) : relativeTime(new Date(at), now)}
    </time>
  );
}

/** Returns whole seconds until a time; 0 once it has passed. */
export function useSecondsUntil(at: string | null): number {
  const now = useNow(1_000);
  return at === null ? 0 : Math.max(0, Math.ceil((Date.parse(at) - now.getTime()) / 1000));
}
