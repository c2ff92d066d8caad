CREATE VIEW kernels AS SELECT d.id, d.guid, d.tid, c.string AS category, r.string AS region, k.display_name AS name, d.nid, d.pid,
 a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index, a.type_index AS agent_type_index, a.type AS agent_type,
 k.code_object_id, d.kernel_id, d.dispatch_id, d.stream_id, d.queue_id, q.name AS queue, s.name AS stream, d.start, d."end",
 (d."end" - d.start) AS duration, d.grid_size_x AS grid_x, d.grid_size_y AS grid_y, d.grid_size_z AS grid_z,
 d.workgroup_size_x AS workgroup_x, d.workgroup_size_y AS workgroup_y, d.workgroup_size_z AS workgroup_z,
 d.group_segment_size AS lds_size, d.private_segment_size AS scratch_size, k.arch_vgpr_count AS vgpr_count, k.accum_vgpr_count,
 k.sgpr_count, k.group_segment_size AS static_lds_size, k.private_segment_size AS static_scratch_size, e.stack_id, e.parent_stack_id,
 e.correlation_id AS corr_id
FROM rocpd_kernel_dispatch d
 JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id AND k.guid = d.guid
 JOIN rocpd_info_agent a ON a.id = d.agent_id AND a.guid = d.guid
 LEFT JOIN rocpd_event e ON e.id = d.event_id AND e.guid = d.guid
 LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid
 LEFT JOIN rocpd_string r ON r.id = d.region_name_id AND r.guid = d.guid
 LEFT JOIN rocpd_info_queue q ON q.id = d.queue_id AND q.guid = d.guid
 LEFT JOIN rocpd_info_stream s ON s.id = d.stream_id AND s.guid = d.guid;
CREATE VIEW counters_collection AS SELECT min(p.id) AS id, p.guid, d.dispatch_id, d.kernel_id, e.id AS event_id, e.correlation_id,
 e.stack_id, e.parent_stack_id, d.pid, d.tid, d.agent_id, a.absolute_index AS agent_abs_index, a.logical_index AS agent_log_index,
 a.type_index AS agent_type_index, a.type AS agent_type, d.queue_id, d.grid_size_x, d.grid_size_y, d.grid_size_z,
 (d.grid_size_x * d.grid_size_y * d.grid_size_z) AS grid_size, k.display_name AS kernel_name, r.string AS kernel_region,
 d.workgroup_size_x, d.workgroup_size_y, d.workgroup_size_z,
 (d.workgroup_size_x * d.workgroup_size_y * d.workgroup_size_z) AS workgroup_size, d.group_segment_size AS lds_block_size,
 d.private_segment_size AS scratch_size, k.arch_vgpr_count AS vgpr_count, k.accum_vgpr_count, k.sgpr_count, i.name AS counter_name,
 i.symbol AS counter_symbol, i.component, i.description, i.block, i.expression, i.value_type, i.id AS counter_id,
 sum(p.value) AS value, d.start, d."end", i.is_constant, i.is_derived, (d."end" - d.start) AS duration, c.string AS category,
 d.nid, e.extdata, k.code_object_id
FROM rocpd_pmc_event p
 JOIN rocpd_event e ON e.id = p.event_id AND e.guid = p.guid
 JOIN rocpd_kernel_dispatch d ON d.event_id = e.id AND d.guid = e.guid
 JOIN rocpd_info_agent a ON a.id = d.agent_id AND a.guid = d.guid
 JOIN rocpd_info_pmc i ON i.id = p.pmc_id AND i.guid = p.guid
 JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id AND k.guid = d.guid
 LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid
 LEFT JOIN rocpd_string r ON r.id = d.region_name_id AND r.guid = d.guid
GROUP BY p.guid, d.id, i.id;
CREATE VIEW pmc_events AS SELECT p.id, p.guid, p.pmc_id, p.event_id, c.string AS category, k.display_name AS name, d.nid, d.pid,
 d.dispatch_id, d.start, d."end", (d."end" - d.start) AS duration, i.name AS counter_name, p.value AS counter_value
FROM rocpd_pmc_event p
 JOIN rocpd_event e ON e.id = p.event_id AND e.guid = p.guid
 JOIN rocpd_kernel_dispatch d ON d.event_id = e.id AND d.guid = e.guid
 JOIN rocpd_info_pmc i ON i.id = p.pmc_id AND i.guid = p.guid
 JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id AND k.guid = d.guid
 LEFT JOIN rocpd_string c ON c.id = e.category_id AND c.guid = e.guid;
CREATE VIEW kernel_symbols AS SELECT * FROM rocpd_info_kernel_symbol;
CREATE VIEW top_kernels AS SELECT k.display_name AS name, count(*) AS total_calls, sum(d."end" - d.start) / 1000.0 AS total_duration,
 sum(d."end" - d.start) / count(*) / 1000.0 AS average,
 sum(d."end" - d.start) * 100.0 / (SELECT sum("end" - start) FROM rocpd_kernel_dispatch) AS percentage
FROM rocpd_kernel_dispatch d JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id AND k.guid = d.guid
GROUP BY k.display_name ORDER BY total_duration DESC;
