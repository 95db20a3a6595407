import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import styles from './sections.module.css';

/**
 * One section of a resource, with links to all of them: beside it, or in one line above it on a narrow screen. Each section is a page
 * with its own address.
 */
export function Sections({
  label,
  items,
  children,
}: {
  label: string;
  items: readonly { href: string; label: string }[];
  children: ReactNode;
}) {
  const [location] = useLocation();
  const list = useRef<HTMLUListElement>(null);
  // The line may be wider than the screen.
  useEffect(() => {
    const current = list.current?.querySelector(`a[href$="${CSS.escape(location)}"]`);
    current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [location]);
  return (
    <div className={styles.sections}>
      <nav aria-label={label} className={styles.nav}>
        <ul ref={list}>
          {items.map((item) => (
            <li key={item.href}>
              <Link href={item.href} aria-current={location === item.href ? 'page' : undefined}>
                {item.label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className={styles.content}>{children}</div>
    </div>
  );
}
