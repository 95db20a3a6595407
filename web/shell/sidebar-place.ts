import { createContext, type ReactNode, useContext } from 'react';
import { createPortal } from 'react-dom';

/** The element of the sidebar that a page may fill with its own navigation; null until the sidebar is there. */
export const SidebarPlace = createContext<HTMLElement | null>(null);

/** Renders the navigation of a page in the sidebar, so that its script loads with the page. */
export function InSidebar({ children }: { children: ReactNode }) {
  const place = useContext(SidebarPlace);
  return place && createPortal(children, place);
}
