/** A part of the settings: heading, content, and one line that says how the last request ended. */
import type { ComponentChildren, VNode } from 'preact';
import { useUnique } from '../kit/id';
import type { Task } from './use-task';

export interface SectionProps {
  title: string;
  /** Beside the heading, e.g. "Set up". */
  badge?: string;
  about?: string;
  children: ComponentChildren;
}

export function Section({ title, badge, about, children }: SectionProps): VNode {
  const id = useUnique();
  return (
    <div class="cc-section" role="group" aria-labelledby={id}>
      <div class="cc-section-head">
        <h3 id={id}>{title}</h3>
        {badge && <span class="cc-badge">{badge}</span>}
      </div>
      {about && <p class="cc-dim">{about}</p>}
      {children}
    </div>
  );
}

export function TaskLine({ task, waiting }: { task: Task; waiting: string }): VNode {
  return (
    <>
      <span class="cc-task" role="status">
        {task.busy ? waiting : task.failed ? '' : task.said}
      </span>
      {task.failed && task.said && (
        <span class="cc-task cc-task-failed" role="alert">
          {task.said}
        </span>
      )}
    </>
  );
}
