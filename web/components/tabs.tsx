import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import styles from './tabs.module.css';

/** Links between pages that belong together, in one line above each of them. The line scrolls on narrow screens. */
export function Tabs({
  label,
  items,
}: {
  /** Name of the list, for screen readers. */
  label: string;
  items: readonly { href: string; label: string; current: boolean }[];
}) {
  const list = useRef<HTMLUListElement>(null);
  const current = items.find((item) => item.current)?.href;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the current link moves with the address
  useEffect(() => {
    const link = list.current?.querySelector('a[aria-current]');
    link?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [current]);
  return (
    <nav aria-label={label} className={styles.tabs}>
      <ul ref={list}>
        {items.map((item) => (
          <li key={item.href}>
            <Link href={item.href} aria-current={item.current ? 'page' : undefined}>
              {item.label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
