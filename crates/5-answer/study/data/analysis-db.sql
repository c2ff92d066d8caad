-- The analysis of recordings as tables and views. Names and columns are those of the vendor's analysis databases, schema 2.0.0.
CREATE TABLE compute_workload (workload_id INTEGER PRIMARY KEY, name TEXT, sub_name TEXT, sys_info_extdata JSON, roofline_bench_extdata JSON,
  profiling_config_extdata JSON);
CREATE TABLE compute_metric_definition (metric_uuid INTEGER PRIMARY KEY, workload_id INTEGER NOT NULL REFERENCES compute_workload,
  name TEXT, metric_id TEXT, description TEXT, table_name TEXT, sub_table_name TEXT, unit TEXT, UNIQUE (workload_id, metric_id));
CREATE TABLE compute_kernel (kernel_uuid INTEGER PRIMARY KEY, workload_id INTEGER NOT NULL REFERENCES compute_workload, kernel_name TEXT,
  UNIQUE (workload_id, kernel_name));
CREATE TABLE compute_dispatch (dispatch_uuid INTEGER PRIMARY KEY, kernel_uuid INTEGER NOT NULL REFERENCES compute_kernel, dispatch_id INTEGER,
  gpu_id INTEGER, start_timestamp INTEGER, end_timestamp INTEGER);
CREATE TABLE compute_kernel_metric_value (value_uuid INTEGER PRIMARY KEY, metric_uuid INTEGER NOT NULL REFERENCES compute_metric_definition,
  kernel_uuid INTEGER NOT NULL REFERENCES compute_kernel, value_name TEXT, value REAL, UNIQUE (kernel_uuid, metric_uuid, value_name));
CREATE TABLE compute_workload_metric_value (value_uuid INTEGER PRIMARY KEY, metric_uuid INTEGER NOT NULL REFERENCES compute_metric_definition,
  workload_id INTEGER NOT NULL REFERENCES compute_workload, value_name TEXT, value REAL, UNIQUE (workload_id, metric_uuid, value_name));
CREATE TABLE compute_kernel_roofline_data (roofline_uuid INTEGER PRIMARY KEY, kernel_uuid INTEGER NOT NULL UNIQUE REFERENCES compute_kernel,
  total_flops REAL, l0_cache_data REAL, l1_cache_data REAL, l2_cache_data REAL, hbm_cache_data REAL, lds_cache_data REAL);
CREATE TABLE compute_workload_roofline_data (roofline_uuid INTEGER PRIMARY KEY, workload_id INTEGER NOT NULL UNIQUE REFERENCES compute_workload,
  total_flops REAL, l0_cache_data REAL, l1_cache_data REAL, l2_cache_data REAL, hbm_cache_data REAL, lds_cache_data REAL);
CREATE TABLE compute_code_object_store (code_object_uuid INTEGER PRIMARY KEY, workload_id INTEGER NOT NULL REFERENCES compute_workload, pid INTEGER,
  code_object_id INTEGER, load_base INTEGER);
CREATE TABLE compute_instruction_line (instruction_uuid INTEGER PRIMARY KEY, code_object_uuid INTEGER NOT NULL REFERENCES compute_code_object_store,
  kernel_uuid INTEGER REFERENCES compute_kernel, code_object_offset INTEGER, comment TEXT, instruction TEXT);
CREATE TABLE compute_pc_sample_state (pc_sample_state_uuid INTEGER PRIMARY KEY, instruction_uuid INTEGER NOT NULL REFERENCES compute_instruction_line,
  total_count INTEGER, issue_count INTEGER, stall_count INTEGER);
CREATE TABLE compute_pc_sample_stall_reason_type (pc_sample_stall_reason_type_uuid INTEGER PRIMARY KEY, text TEXT UNIQUE);
CREATE TABLE compute_pc_sample_stall_reason (pc_sample_stall_reason_uuid INTEGER PRIMARY KEY, pc_sample_state_uuid INTEGER NOT NULL
  REFERENCES compute_pc_sample_state, pc_sample_stall_reason_type_uuid INTEGER NOT NULL REFERENCES compute_pc_sample_stall_reason_type, count INTEGER);
CREATE TABLE compute_metadata (id INTEGER PRIMARY KEY, compute_version TEXT, git_version TEXT, schema_version TEXT);

CREATE VIEW compute_kernel_view AS
  WITH timed AS (
    SELECT kernel_uuid, dispatch_id, end_timestamp - start_timestamp AS duration,
      row_number() OVER (PARTITION BY kernel_uuid ORDER BY end_timestamp - start_timestamp) AS place,
      count(*) OVER (PARTITION BY kernel_uuid) AS dispatches
    FROM compute_dispatch)
  SELECT k.kernel_uuid, k.workload_id, w.name AS workload_name, k.kernel_name, count(t.dispatch_id) AS dispatch_count,
    sum(t.duration) AS duration_ns_sum, min(t.duration) AS duration_ns_min, max(t.duration) AS duration_ns_max,
    avg(t.duration) FILTER (WHERE t.place IN ((t.dispatches + 1) / 2, (t.dispatches + 2) / 2)) AS duration_ns_median,
    avg(t.duration) AS duration_ns_mean
  FROM timed t JOIN compute_kernel k USING (kernel_uuid) JOIN compute_workload w USING (workload_id)
  GROUP BY k.kernel_uuid;
CREATE VIEW compute_kernel_metric_view AS
  SELECT w.workload_id, w.name AS workload_name, k.kernel_uuid, k.kernel_name, m.metric_uuid, m.name AS metric_name, m.metric_id, m.description,
    m.table_name, m.sub_table_name, m.unit, v.value_uuid, v.value_name, v.value
  FROM compute_kernel_metric_value v JOIN compute_metric_definition m USING (metric_uuid) JOIN compute_kernel k USING (kernel_uuid)
    JOIN compute_workload w ON w.workload_id = m.workload_id;
CREATE VIEW compute_workload_metric_view AS
  SELECT w.workload_id, w.name AS workload_name, m.metric_uuid, m.name AS metric_name, m.metric_id, m.description, m.table_name, m.sub_table_name,
    m.unit, v.value_uuid, v.value_name, v.value
  FROM compute_workload_metric_value v JOIN compute_metric_definition m USING (metric_uuid)
    JOIN compute_workload w ON w.workload_id = m.workload_id;
CREATE VIEW compute_pc_sampling_view AS
  SELECT c.workload_id, k.kernel_uuid, k.kernel_name, i.code_object_offset AS offset, i.instruction, i.comment AS source, s.total_count AS count,
    s.issue_count AS count_issue, s.stall_count AS count_stall,
    (SELECT json_group_object(t.text, r.count) FROM compute_pc_sample_stall_reason r JOIN compute_pc_sample_stall_reason_type t
      USING (pc_sample_stall_reason_type_uuid) WHERE r.pc_sample_state_uuid = s.pc_sample_state_uuid HAVING count(*) > 0) AS stall_reason
  FROM compute_pc_sample_state s JOIN compute_instruction_line i USING (instruction_uuid) JOIN compute_code_object_store c USING (code_object_uuid)
    LEFT JOIN compute_kernel k USING (kernel_uuid);
