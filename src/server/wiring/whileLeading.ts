import type { Service } from '../../engine/runtime/service.ts';
import type { RoleState } from './election.ts';

/** Runs on the one of several nodes that leads; `make` is called each time that it begins to. */
export function whileLeading(name: string, make: () => Service, roles: RoleState): Service {
  let running: Service | null = null;
  let changing = Promise.resolve();
  let isOpen = false;
  const change = (wanted: boolean) => {
    changing = changing.then(async () => {
      if (wanted === (running !== null)) return;
      const [old, next] = [running, wanted ? make() : null];
      running = next;
      await old?.stop();
      await next?.start();
    });
  };
  roles.onRole((leads) => change(isOpen && leads));
  return {
    name,
    start: () => {
      isOpen = true;
      change(roles.leads());
    },
    stop: () => {
      isOpen = false;
      change(false);
      return changing;
    },
  };
}
